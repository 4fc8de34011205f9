package bench

import (
	"os"
	"path/filepath"
	"strings"
)

// CgroupDirs are the folders of this process's CPU controller, its own first, then those above it: every one of them
// may limit it. In a container the own path may not be visible; then the root is what is left.
func CgroupDirs() []string {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	var own, root string
	for line := range strings.Lines(string(groups)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		switch {
		case part[1] == "" && root == "": // version 2
			own, root = part[2], "/sys/fs/cgroup"
		case strings.Contains(","+part[1]+",", ",cpu,"):
			own, root = part[2], filepath.Join("/sys/fs/cgroup", part[1])
		}
	}
	if _, err := os.Stat(root); err != nil || root == "" {
		root = "/sys/fs/cgroup/cpu"
	}
	var dirs []string
	for p := filepath.Clean("/" + own); ; p = filepath.Dir(p) {
		dirs = append(dirs, filepath.Join(root, p))
		if p == "/" {
			return dirs
		}
	}
}
