// Command miniredis-server serves miniredis on an address until it is told to stop.
package main

import (
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/alicebob/miniredis/v2"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: miniredis-server HOST:PORT")
	}
	server := miniredis.NewMiniRedis()
	server.ClockTTL(true) // by default only a test's own code lets time pass
	if err := server.StartAddr(os.Args[1]); err != nil {
		log.Fatal(err)
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)
	<-told
	server.Close()
}
