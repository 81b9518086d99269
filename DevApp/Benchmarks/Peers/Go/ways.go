// The measured work in Go: goroutines, wait groups and channels.
package main

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

const busySteps = 800

func main() {
	serve([]way{
		{"fan-out", "Go goroutine each, WaitGroup", whole(goroutineEach(0))},
		{"fan-out", "Go worker goroutines over []func()", workerGoroutines(0)},
		{"busy", "Go goroutine each, WaitGroup", whole(goroutineEach(busySteps))},
		{"busy", "Go worker goroutines over []func()", workerGoroutines(busySteps)},
		{"chain", "Go goroutine a step, channel", whole(goroutineChain)},
		{"nested", "Go WaitGroup of WaitGroups", whole(nested)},
		{"pairs", "Go WaitGroup", whole(groupsInTurn(2))},
		{"eights", "Go WaitGroup", whole(groupsInTurn(8))},
		{"fib", "Go goroutine, channel", whole(func(int) uint64 { return fib(20) })},
		{"sleep", "Go goroutine each, time.Sleep", whole(sleepers)},
	})
}

func goroutineEach(steps int) func(count int) uint64 {
	return func(count int) uint64 {
		slots := make([]uint64, count)
		var group sync.WaitGroup
		group.Add(count)
		for i := range slots {
			go func(i int) {
				slots[i] = work(uint64(i), steps)
				group.Done()
			}(i)
		}
		group.Wait()
		return sum(slots)
	}
}

// workerGoroutines runs a list of functions that was made in advance with one goroutine per worker.
func workerGoroutines(steps int) func(count int) func() uint64 {
	return func(count int) func() uint64 {
		slots := make([]uint64, count)
		functions := make([]func(), count)
		for i := range functions {
			i := i
			functions[i] = func() { slots[i] = work(uint64(i), steps) }
		}
		return func() uint64 {
			callAll(functions)
			return sum(slots)
		}
	}
}

func callAll(functions []func()) {
	var taken atomic.Int64
	var group sync.WaitGroup
	group.Add(workers())
	for worker := 0; worker < workers(); worker++ {
		go func() {
			defer group.Done()
			for i := taken.Add(1) - 1; int(i) < len(functions); i = taken.Add(1) - 1 {
				functions[i]()
			}
		}()
	}
	group.Wait()
}

func goroutineChain(count int) uint64 {
	var total uint64
	results := make(chan uint64)
	for i := 0; i < count; i++ {
		go func(i int) { results <- work(uint64(i), 0) }(i)
		total += <-results
	}
	return total
}

func nested(count int) uint64 {
	side := int(math.Sqrt(float64(count)))
	slots := make([]uint64, side*side)
	var rows sync.WaitGroup
	rows.Add(side)
	for first := 0; first < side*side; first += side {
		go func(first int) {
			defer rows.Done()
			var row sync.WaitGroup
			row.Add(side)
			for i := first; i < first+side; i++ {
				go func(i int) {
					slots[i] = work(uint64(i), 0)
					row.Done()
				}(i)
			}
			row.Wait()
		}(first)
	}
	rows.Wait()
	return sum(slots)
}

func groupsInTurn(size int) func(count int) uint64 {
	return func(count int) uint64 {
		var total uint64
		for first := 0; first+size <= count; first += size {
			results := make([]uint64, size)
			var group sync.WaitGroup
			group.Add(size)
			for i := range results {
				go func(i int) {
					results[i] = work(uint64(first+i), 0)
					group.Done()
				}(i)
			}
			group.Wait()
			total += sum(results)
		}
		return total
	}
}

func fib(n int) uint64 {
	if n < 2 {
		return uint64(n)
	}
	forked := make(chan uint64, 1)
	go func() { forked <- fib(n - 1) }()
	own := fib(n - 2)
	return <-forked + own
}

func sleepers(count int) uint64 {
	slots := make([]uint64, count)
	var group sync.WaitGroup
	group.Add(count)
	for i := range slots {
		go func(i int) {
			time.Sleep(10 * time.Millisecond)
			slots[i] = uint64(i)
			group.Done()
		}(i)
	}
	group.Wait()
	return sum(slots)
}
