// Package mcp is the assistant's door for AI clients. One path serves two forms:
//
//	POST with a member "jsonrpc"   the Model Context Protocol, by its official SDK
//	POST without it                the plain form: {"method":"tools/list"} or {"method":"tools/call","tool":…,"arguments":…}
//
// Both have the four tools of the contract, of one table (tools.go). The protocol has small typed ones besides, for models
// (reads.go), and prompts (prompts.go). MCP is not MQTT, by which controllers report.
package mcp
