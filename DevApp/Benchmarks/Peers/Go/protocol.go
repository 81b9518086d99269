package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A way to do the work of a shape.
type way struct {
	shape, name string
	// prepare makes what a run may have in advance, and returns the function to measure, which does
	// the work once and returns its checksum.
	prepare func(count int) func() uint64
}

// whole is the prepare function of a way that makes everything while it is measured.
func whole(run func(count int) uint64) func(count int) func() uint64 {
	return func(count int) func() uint64 {
		return func() uint64 { return run(count) }
	}
}

// work is the work of an operation.
//
//go:noinline
func work(seed uint64, steps int) uint64 {
	value := seed
	for step := 0; step < steps; step++ {
		value = (value ^ (value >> 29)) * 6364136223846793005
	}
	return value
}

func sum(numbers []uint64) uint64 {
	var total uint64
	for _, number := range numbers {
		total += number
	}
	return total
}

// workers is the number of threads that may run goroutines.
func workers() int {
	if number, err := strconv.Atoi(os.Getenv("PEER_WORKERS")); err == nil && number > 0 {
		return number
	}
	return 2
}

// wake keeps every core busy briefly, because a sleeping core takes long to start.
func wake() {
	var arrived atomic.Int32
	var group sync.WaitGroup
	group.Add(workers())
	for worker := 0; worker < workers(); worker++ {
		go func() {
			defer group.Done()
			arrived.Add(1)
			limit := time.Now().Add(30 * time.Millisecond)
			for int(arrived.Load()) < workers() && time.Now().Before(limit) {
			}
			end := time.Now().Add(200 * time.Microsecond)
			for time.Now().Before(end) {
			}
		}()
	}
	group.Wait()
}

// settle waits until the threads are idle, so that they take no time from the next measurement: the
// threads of the collector continue after a run. The system may update the time of a thread only
// every 10 ms.
func settle() {
	for waits := 0; waits < 10; waits++ {
		before := processorTime()
		time.Sleep(10 * time.Millisecond)
		if processorTime()-before < time.Millisecond {
			return
		}
	}
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func answer(request string, ways []way) (string, error) {
	words := strings.Fields(request)
	if len(words) != 2 {
		return "", fmt.Errorf("a request is two numbers")
	}
	number, err := strconv.Atoi(words[0])
	if err != nil || number < 0 || number >= len(ways) {
		return "", fmt.Errorf("there is no such way")
	}
	count, err := strconv.Atoi(words[1])
	if err != nil || count < 1 || count > 10_000_000 {
		return "", fmt.Errorf("the count must be from 1 to 10000000")
	}

	run := ways[number].prepare(count)
	wake()
	start := time.Now()
	checksum := run()
	duration := time.Since(start)
	settle()
	return fmt.Sprint(duration.Nanoseconds(), checksum), nil
}

// serve prints the ways, then answers requests until there are no more.
func serve(ways []way) {
	runtime.GOMAXPROCS(workers())
	for _, way := range ways {
		fmt.Printf("way\t%s\t%s\n", way.shape, way.name)
	}
	fmt.Println("ready")
	for requests := bufio.NewScanner(os.Stdin); requests.Scan(); {
		if text, err := answer(requests.Text(), ways); err != nil {
			fmt.Println("error", err)
		} else {
			fmt.Println(text)
		}
	}
}
