// Package lib is OSQP, made Go from its C sources by "make transpile", which writes generated.go. That file is not in
// the repository; without it a build with the tag osqp_go says that RunMakeTranspile is undefined.
package lib
