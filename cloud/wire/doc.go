// Package wire holds the MQTT messages that a controller and the platform exchange: topics, the envelope and the data
// of every type.
//
// MQTT 3.1.1 promises little (QoS 1 may duplicate, nothing expires, queues are lost), so everything that a receiver
// must rely on is in the payload: an ID, a sequence number with its epoch, an expiry and what it answers. The tree:
//
//	bms/v1/ctl/<cid>/down/widget          platform → controller  QoS 1            WidgetAction
//	bms/v1/ctl/<cid>/down/cmd             platform → controller  QoS 1            Order
//	bms/v1/ctl/<cid>/down/config          platform → controller  QoS 1, retained  Config
//	bms/v1/ctl/<cid>/down/res             platform → controller  reserved
//	bms/v1/ctl/<cid>/up/status            controller → platform  QoS 1, retained  Status (also the will)
//	bms/v1/ctl/<cid>/up/ack               controller → platform  QoS 1            Ack
//	bms/v1/ctl/<cid>/up/state/<kind>/<id> controller → platform  QoS 1, retained  State
//	bms/v1/ctl/<cid>/up/tele              controller → platform  QoS 0            Telemetry
//	bms/v1/ctl/<cid>/up/event             controller → platform  QoS 1            Event
//	bms/v1/ctl/<cid>/up/panel             controller → platform  QoS 1            PanelValues
//	bms/v1/ctl/<cid>/up/ledger            controller → platform  QoS 1            Ledger
//	bms/v1/ctl/<cid>/up/req               controller → platform  reserved
//	bms/v1/platform/status                platform               QoS 1, retained  Status
//
// A controller reads down/# and writes up/# of its own subtree, reads bms/v1/platform/status, and nothing else; its user
// name is its <cid> and its MQTT client ID "ctl-<cid>". A change that old receivers cannot read takes a new root,
// bms/v2, served beside this one.
package wire
