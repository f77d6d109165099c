"""kfake, the fake cluster of franz-go, built behind a main of a few lines."""

from __future__ import annotations

import os
import shutil
import subprocess
import zlib
from pathlib import Path
from typing import Final

VERSION: Final = "v0.0.0-20260918054303-01f206a7e32c"
FRANZ_GO_VERSION: Final = "v1.22.2"
"""This kfake needs more of franz-go than its own go.mod asks for."""

_GO_MOD: Final = f"""module kfakepeer

go 1.26.0

require (
	github.com/twmb/franz-go {FRANZ_GO_VERSION}
	github.com/twmb/franz-go/pkg/kfake {VERSION}
)
"""

_MAIN: Final = """package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	brokers, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	options := []kfake.Opt{kfake.NumBrokers(brokers)}
	if len(os.Args) > 4 && os.Args[2] == "starts" {
		starts(append(options, kfake.SeedTopics(1, "orders")), os.Args[3], os.Args[4])
		return
	}
	if len(os.Args) > 2 && os.Args[2] == "tls" {
		options = append(options, kfake.TLS(secured()))
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer cluster.Close()
	fmt.Println(strings.Join(cluster.ListenAddrs(), ","))
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	<-ended
}

// One cluster after the other, so many at once: ms until each was there.
func starts(options []kfake.Opt, clusters, atOnce string) {
	left, err := strconv.Atoi(clusters)
	workers, bad := strconv.Atoi(atOnce)
	if err != nil || bad != nil {
		os.Exit(1)
	}
	var mutex sync.Mutex
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for mutex.Lock(); left > 0; mutex.Lock() {
				left--
				mutex.Unlock()
				began := time.Now()
				cluster, err := kfake.NewCluster(options...)
				took := time.Since(began)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				cluster.Close()
				fmt.Printf("%.3f\\n", took.Seconds()*1000)
			}
			mutex.Unlock()
		})
	}
	group.Wait()
}

func secured() *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	named := &x509.Certificate{SerialNumber: big.NewInt(1)}
	certificate, err := x509.CreateCertificate(rand.Reader, named, named, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	shown := tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: key}
	return &tls.Config{Certificates: []tls.Certificate{shown}}
}
"""


class CannotBuildError(Exception):
    """kfake is left out; the message says why."""


def cache_folder() -> Path:
    return Path(os.environ.get("MOCKBROKER_CACHE") or Path.home() / ".cache" / "mockbroker")


def build() -> Path:
    """The program, built on first use under the cache folder. It takes the number of brokers, and then
    `tls`, or `starts`, how many clusters to start and how many at once."""
    folder = cache_folder() / f"kfake-{VERSION}-{zlib.crc32(_MAIN.encode()):08x}"
    program = folder / "kfake"
    if program.exists():
        return program
    go = shutil.which("go")
    if go is None:
        raise CannotBuildError("go is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "go.mod").write_text(_GO_MOD)
    (folder / "main.go").write_text(_MAIN)
    command = [go, "build", "-mod=mod", "-o", "kfake.new", "."]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if built.returncode:
        said = built.stderr.strip().splitlines()
        raise CannotBuildError(f"go build failed: {said[-1] if said else built.returncode}")
    (folder / "kfake.new").rename(program)
    return program
