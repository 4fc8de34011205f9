import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.HdrHistogram.HistogramIterationValue;

/** Prints every interval of a log, one line each, then its filled buckets: the Java port's view of a .hlog file. */
public class ReadLog {
    public static void main(String[] args) throws Exception {
        HistogramLogReader reader = new HistogramLogReader(args[0]);
        for (EncodableHistogram e; (e = reader.nextIntervalHistogram()) != null; ) {
            Histogram h = (Histogram) e;
            System.out.printf("%s %d %d %d %d", h.getTag(), h.getStartTimeStamp(), h.getEndTimeStamp(), h.getTotalCount(), h.getMaxValue());
            for (HistogramIterationValue v : h.recordedValues()) {
                System.out.printf(" %d:%d", v.getValueIteratedTo(), v.getCountAtValueIteratedTo());
            }
            System.out.println();
        }
    }
}
