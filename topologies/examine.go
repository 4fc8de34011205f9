package topologies

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
)

// Examination is what INFO tells about a server that we did not start.
type Examination struct {
	Sample
	Mode       string // standalone, cluster, sentinel; "" not told
	RunID      string // differs for each start of each server
	Loading    bool
	Replicas   int
	AppendOnly bool // every write goes to a file
}

// Examine reads INFO once.
func (s Server) Examine(ctx context.Context) (Examination, error) {
	info, err := s.info(ctx)
	if err != nil {
		return Examination{}, fmt.Errorf("info %s: %w", s.Address, err)
	}
	f := infoFields(info)
	replicas, _ := strconv.Atoi(f["connected_slaves"])
	return Examination{
		Sample: ParseInfo(info), Mode: cmp.Or(f["server_mode"], f["redis_mode"]), RunID: f["run_id"],
		Loading: f["loading"] == "1", Replicas: replicas, AppendOnly: f["aof_enabled"] == "1",
	}, nil
}
