package mockbroker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// contract is the version of docs/process.md that this package follows.
const contract = 1

// process is a `mockbroker serve` that lends clusters. It ends when its stdin closes, which happens when this
// program ends in any way.
type process struct {
	controlURL string
	version    string
	stdin      io.Closer
}

// shared is the one process of this program, started by the first test that wants a cluster.
var shared = sync.OnceValues(startProcess)

func startProcess() (*process, error) {
	path, err := executable()
	if err != nil {
		return nil, err
	}
	command := exec.Command(path, "serve", "--brokers", "1", "--log", "json", "--port", "0", "--control", "0",
		"--until-stdin-closes")
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	// A pipe of our own, and not os.Stderr: `go test` waits for everybody who holds that.
	var said bytes.Buffer
	command.Stderr = &said
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("%s can't be started: %w", path, err)
	}
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		command.Wait()
		return nil, fmt.Errorf("%s did not start: %s", path, strings.TrimSpace(said.String()))
	}
	// The cluster stands still while the pipe is full and nobody reads it.
	go io.Copy(io.Discard, lines)
	started, err := read(line)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	started.stdin = stdin
	return started, nil
}

func read(line []byte) (*process, error) {
	var first struct {
		Contract   int    `json:"contract"`
		Version    string `json:"version"`
		ControlURL string `json:"control_url"`
	}
	if err := json.Unmarshal(line, &first); err != nil {
		return nil, fmt.Errorf("its first line is not that of mockbroker: %q", line)
	}
	switch {
	case first.Contract < contract:
		return nil, fmt.Errorf("mockbroker %s is too old for this package: update it", first.Version)
	case first.Contract > contract:
		return nil, fmt.Errorf("mockbroker %s is too new for this package: update the package", first.Version)
	}
	return &process{controlURL: first.ControlURL, version: first.Version}, nil
}

func executable() (string, error) {
	if path := os.Getenv("MOCKBROKER"); path != "" {
		return path, nil
	}
	path, err := exec.LookPath("mockbroker")
	if err != nil {
		return "", fmt.Errorf("no mockbroker on PATH: install it with `pip install mockbroker`, or set " +
			"MOCKBROKER to the path of its executable")
	}
	return path, nil
}
