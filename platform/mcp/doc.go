// Package mcp is the assistant's door for AI clients. One path serves two forms:
//
//	POST with a member "jsonrpc"   the Model Context Protocol, by its official SDK
//	POST without it                the plain form: {"method":"tools/list"} or {"method":"tools/call","tool":…,"arguments":…}
//
// Both have the same four tools, of one table (tools.go). MCP is not MQTT, by which controllers report.
package mcp
