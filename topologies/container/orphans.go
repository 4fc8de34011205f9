package container

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/lockbench/lockbench/topologies"
)

// RemoveOrphans removes containers whose lockbench runs no more and returns their names. Where no engine answers
// there is nothing to remove.
func RemoveOrphans(ctx context.Context) ([]string, error) {
	e, err := connect(ctx)
	if err != nil {
		return nil, ctx.Err()
	}
	defer e.Close()
	return e.removeOrphans(ctx)
}

func (e *engine) removeOrphans(ctx context.Context) ([]string, error) {
	return e.removeAll(ctx, topologies.OwnerLabel, func(labels map[string]string) bool {
		return topologies.OwnerFrom(labels).Gone()
	})
}

// removeAll removes the containers that have a label and fit, side by side.
func (e *engine) removeAll(ctx context.Context, label string, fits func(labels map[string]string) bool) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, removeWait)
	defer cancel()
	list, err := e.Client().ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", label)})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var removed []string
	var errs []error
	for _, c := range list.Items {
		if !fits(c.Labels) {
			continue
		}
		wg.Go(func() {
			_, err := e.Client().ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				removed = append(removed, name(c))
			case !errdefs.IsNotFound(err) && !errdefs.IsConflict(err): // somebody else removes it
				errs = append(errs, fmt.Errorf("remove container %s: %w", name(c), err))
			}
		})
	}
	wg.Wait()
	return removed, errors.Join(errs...)
}

func name(c container.Summary) string {
	if len(c.Names) > 0 {
		return strings.TrimPrefix(c.Names[0], "/")
	}
	return c.ID
}
