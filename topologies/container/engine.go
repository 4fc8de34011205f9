package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// Bounds of single requests to the engine. A hung engine must not hang a run.
const (
	askWait    = 10 * time.Second
	startWait  = time.Minute
	removeWait = 30 * time.Second
	pullWait   = 10 * time.Minute
)

// engine is the Docker engine of this machine.
type engine struct {
	*testcontainers.DockerProvider
	hostNetwork bool // containers can listen on this machine's own loopback address
}

// connect finds the engine, within askWait. The library has no context here and panics where it finds no socket.
func connect(ctx context.Context) (*engine, error) {
	// The library's own reaper is a further image, which a machine without a registry cannot get; our labels do its work.
	os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	log.SetDefault(log.NewNoopLogger())
	type answer struct {
		engine *engine
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		e, err := find()
		answered <- answer{e, err}
	}()
	select {
	case a := <-answered:
		return a.engine, a.err
	case <-time.After(askWait):
		return nil, fmt.Errorf("the Docker engine does not answer within %v", askWait)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func find() (e *engine, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, err = nil, absent(fmt.Errorf("%v", r))
		}
	}()
	p, err := testcontainers.NewDockerProvider()
	if err != nil {
		return nil, absent(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), askWait)
	defer cancel()
	info, err := p.Client().Info(ctx, client.InfoOptions{})
	if err != nil {
		p.Close()
		return nil, absent(err)
	}
	host := p.Client().DaemonHost()
	if wanted := os.Getenv("DOCKER_HOST"); wanted != "" && wanted != host { // the library falls back to another in silence
		p.Close()
		return nil, absent(errors.New("the one that DOCKER_HOST names does not"))
	}
	if !isLocal(host) {
		p.Close()
		return nil, errors.New("the Docker engine is on another machine; start a server there and give its address (provider external)")
	}
	own := runtime.GOOS == "linux" && strings.HasPrefix(host, "unix://") && !strings.Contains(info.Info.OperatingSystem, "Docker Desktop") &&
		!strings.Contains(strings.Join(info.Info.SecurityOptions, " "), "rootless")
	return &engine{DockerProvider: p, hostNetwork: own}, nil
}

// absent explains an engine that is not there in one line.
func absent(err error) error {
	why, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return fmt.Errorf("no Docker engine answers; install Docker or start it (%s)", strings.TrimSuffix(why, ":"))
}

// isLocal tells an engine on this machine, whose ports can be published on the loopback address only.
func isLocal(daemon string) bool {
	u, err := url.Parse(daemon)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "unix" || u.Scheme == "npipe" || u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// present tells whether the image is here, without asking a registry.
func (e *engine) present(ctx context.Context, image string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	_, err := e.Client().ImageInspect(ctx, image)
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// offered tells whether a registry that can be reached has the image. Nothing is pulled. The engine's own words are
// left out: they name resolvers and proxies of the user's network, and the reason ends up in a report.
func (e *engine) offered(ctx context.Context, image string) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	_, err := e.Client().DistributionInspect(ctx, image, client.DistributionInspectOptions{})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("image %s is not present, and its registry does not answer: %w", image, ctx.Err())
	}
	return fmt.Errorf("image %s is not present and cannot be pulled; `docker pull %s` says why", image, image)
}

// program is the server program of an image: redis-server, or as in its own command valkey-server. Names are resolved
// by the image's PATH.
func (e *engine) program(ctx context.Context, image string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	inspected, err := e.Client().ImageInspect(ctx, image)
	if err != nil {
		return "", fmt.Errorf("inspect image %s: %w", image, err)
	}
	if c := inspected.Config; c != nil && len(c.Cmd) > 0 && strings.HasSuffix(c.Cmd[0], "-server") {
		return c.Cmd[0], nil
	}
	return "redis-server", nil
}

// Describe names the engine, as "Docker 20.10.24", and the images here that look like servers for locks.
func Describe(ctx context.Context) (name string, images []string, err error) {
	e, err := connect(ctx)
	if err != nil {
		return "", nil, err
	}
	defer e.Close()
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	v, err := e.Client().ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return "", nil, fmt.Errorf("version of the Docker engine: %w", err)
	}
	list, err := e.Client().ImageList(ctx, client.ImageListOptions{})
	if err != nil {
		return "", nil, fmt.Errorf("list images: %w", err)
	}
	for _, i := range list.Items {
		images = append(images, slices.DeleteFunc(i.RepoTags, func(tag string) bool { return !servesLocks(tag) })...)
	}
	slices.Sort(images)
	return "Docker " + v.Version, images, nil
}

// servesLocks tells images of Redis and Valkey by the last part of their names.
func servesLocks(tag string) bool {
	base := tag[strings.LastIndexByte(tag, '/')+1:]
	return strings.HasPrefix(base, "redis:") || strings.HasPrefix(base, "valkey:")
}
