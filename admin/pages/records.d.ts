// What /api/v1 sends, made from the Go types: go test ./admin/api -run PagesKnow -update

export interface Action {
  /** So long after the moment of its rule, leaving alone what somebody set by hand meanwhile; up to 7200. For rules only. */
  afterSeconds?: number;
  channel?: number;
  kelvin?: number | null;
  kind?: 'light-on' | 'light-off' | 'light-level' | 'light-kelvin' | 'light-rgbw' | 'shade-open' | 'shade-close' | 'shade-stop' | 'shade-move-to';
  level?: number | null;
  /** light-level and light-off of rules only: it takes so long, in steps from the level that each light has then, 4 to 7200; what somebody sets by hand meanwhile is left alone. 0: at once. */
  overSeconds?: number;
  position?: number | null;
  rgbw?: Colour | null;
  /** To recall; then nothing else is given. For rules only. */
  scene?: number;
  target?: Target | null;
}

export interface Ages {
  nodes?: Array<NodeAges>;
  shades?: Array<ShadeAges>;
}

export interface Arrangement {
  /** They leave the plans that they stood on. */
  place?: Array<Spot>;
  /** They stand nowhere any more; x and y mean nothing here. */
  remove?: Array<Spot>;
}

export interface AsideEdit {
  /** false: it is shown again; true if left out. */
  aside?: boolean | null;
  key: string;
}

export interface Attention {
  /** Whole buses first. */
  concerns: Array<Concern>;
  /** So many more are not in the list. */
  more: number;
}

export interface Audit {
  at: string;
  /** What was set. */
  detail?: unknown;
  /** Address, or console. */
  from: string;
  id: number;
  subject: string;
  what: string;
  who: string;
}

export interface Board {
  /** weak: the voltage was too low within the last hour. Left out: the kernel does not tell. */
  power?: 'good' | 'weak';
  /** When the voltage was last too low; null: not since the start, or nobody knows. */
  powerWeakAt: string | null;
  temperatures: Array<Temperature>;
  /** It has 80 °C or more, and slows down; until it has less than 75. */
  tooHot: boolean;
}

export interface Bus {
  /** The longest a command can wait for a frame in flight. */
  boundMs: number;
  /** The part of it spent on devices that do not answer. */
  deadUse: number;
  /** Bus time that the freshness targets ask for; above 1 they cannot be met, and ages stretch by that factor. */
  demand: number;
  disabled: boolean;
  driver: string;
  etag: string;
  /** Why it is down or set aside. */
  fault?: string;
  id: number;
  line: Line;
  /** When the program last looked after it: once a second at least while it makes progress. */
  lookedAt: string | null;
  name: string;
  nodes: number;
  online: number;
  options: Record<string, string>;
  port: string;
  /** Commands and frames that wait. */
  queue: number;
  stats: Stats;
  /** The same when the device answers. */
  typicalMs: number;
  up: boolean;
  /** Share of the last minute in which the bus was busy. */
  use: number;
  uuid: string;
}

export interface BusDetail {
  /** The longest a command can wait for a frame in flight. */
  boundMs: number;
  /** The part of it spent on devices that do not answer. */
  deadUse: number;
  /** Bus time that the freshness targets ask for; above 1 they cannot be met, and ages stretch by that factor. */
  demand: number;
  devices: Array<Device>;
  disabled: boolean;
  driver: string;
  etag: string;
  /** Why it is down or set aside. */
  fault?: string;
  id: number;
  line: Line;
  /** When the program last looked after it: once a second at least while it makes progress. */
  lookedAt: string | null;
  name: string;
  nodes: number;
  online: number;
  options: Record<string, string>;
  port: string;
  /** Commands and frames that wait. */
  queue: number;
  stats: Stats;
  /** The same when the device answers. */
  typicalMs: number;
  up: boolean;
  /** Share of the last minute in which the bus was busy. */
  use: number;
  uuid: string;
}

export interface BusEdit {
  /** Configured, but not opened. */
  disabled?: boolean | null;
  driver?: string | null;
  line?: Line | null;
  name?: string | null;
  options?: Record<string, string> | null;
  port?: string | null;
}

export interface BusFrame {
  at: string;
  bus: string;
  /** What the bytes mean, in one line; controllerd bus decode tells every field. */
  decoded?: string;
  direction: 'sent' | 'received' | 'discarded';
  hex: string;
  /** Frames before this one that a slow reader missed. */
  lost?: number;
  note?: string;
}

export interface Certificate {
  /** False where it comes from files (--tls-cert): these are replaced. */
  canReplace: boolean;
  /** SHA-256, as on the console and in the log. */
  fingerprint: string;
  issuer: string;
  /** Host names and addresses that it is good for. */
  names: Array<string>;
  notAfter: string;
  notBefore: string;
  selfSigned: boolean;
  subject: string;
}

export interface Change {
  ages?: Ages | null;
  attention?: Attention | null;
  buses?: Array<Bus>;
  clusters?: Array<Cluster>;
  nodes?: Array<Node>;
  removed?: Removed | null;
  shades?: Array<Shade>;
  site?: Site | null;
  time: string;
}

export interface Channel {
  abilities: Array<string>;
  /** From 1. */
  channel: number;
  kelvin: Valueint | null;
  kelvinMax?: number;
  kelvinMin?: number;
  /** Percent; of a node the mean over its channels. */
  level: Valueint | null;
  /** Lowest level above off. */
  minLevel?: number;
  /** Watts; of a node the sum over its channels. */
  power: Valuefloat | null;
  rgbw: ValueColour | null;
  /** The hardware can neither acknowledge nor be read. */
  unverifiable?: boolean;
}

export interface ClaimRequest {
  /** As at login. */
  browser?: boolean;
  /** From the log, the console, or the file claim-code in the data directory. */
  code: string;
  /** At least 10 characters. */
  password: string;
  username: string;
}

export interface ClaimState {
  claimed: boolean;
  /** Of the certificate (SHA-256), to compare with the one in the log. */
  fingerprint: string;
  /** Whether this request came from somebody who is logged in: a page need not try. */
  loggedIn: boolean;
  /** Name of the site. */
  site: string;
  version: string;
}

export interface Cluster {
  /** When the oldest of these values was read. */
  at: string | null;
  createdBy: string;
  createdOn: string | null;
  etag: string;
  id: number;
  kelvin: number | null;
  /** Mean over the members that answer and have a known one; null: there is none. */
  level: number | null;
  /** The highest of them. */
  levelMax: number | null;
  /** The lowest of them. */
  levelMin: number | null;
  /** Light nodes among its members. */
  lights: number;
  motion: 'unknown' | 'stopped' | 'opening' | 'closing' | 'moving';
  name: string;
  nodes: Array<number>;
  /** Members that answer. */
  online: number;
  position: number | null;
  positionMax: number | null;
  positionMin: number | null;
  rgbw: Colour | null;
  shades: Array<number>;
  uuid: string;
}

export interface ClusterEdit {
  addNodes?: Array<number>;
  addShades?: Array<number>;
  /** At creation only; found if left out. */
  id?: number | null;
  name?: string | null;
  /** All its nodes. */
  nodes?: Array<number> | null;
  removeNodes?: Array<number>;
  removeShades?: Array<number>;
  /** All its shades. */
  shades?: Array<number> | null;
}

export interface Colour {
  b: number;
  g: number;
  r: number;
  w: number;
}

export interface Command {
  /** Lights: 0 all channels of each node, else that one. */
  channel?: number;
  /** After how long the command is worth nothing any more; 0: 2 s plus the bus time of its fan-out, at most 10 s. */
  expiresMs?: number;
  kelvin?: number | null;
  kind: 'light-on' | 'light-off' | 'light-level' | 'light-kelvin' | 'light-rgbw' | 'shade-open' | 'shade-close' | 'shade-stop' | 'shade-move-to';
  /** Percent, for light-level; with light-rgbw it may be left out, to keep the present one. */
  level?: number | null;
  /** Percent open. */
  position?: number | null;
  rgbw?: Colour | null;
  target: Target;
  /** For the ledger, up to 200 characters. */
  why?: string;
}

export interface Concern {
  /** null: nobody has put it aside. */
  aside: PutAside | null;
  bus?: string;
  /** In the words of the driver. */
  device?: string;
  /** Names it, for as long as it is not over. */
  key: string;
  /** bus-silent: nothing on it answers; bus-fault: it does, and something is wrong; device-silent, device-trouble: one device; entry: one of the site, or a thing of the controller itself, that was set aside while the rest runs; backup-overdue: no backup has left the box for three days; power-weak, too-hot: the computer itself; not-enrolled: at the platform, as was prepared; network-tried: an admin has to keep it, or it goes back. */
  kind: 'bus-silent' | 'bus-fault' | 'device-silent' | 'device-trouble' | 'entry' | 'backup-overdue' | 'power-weak' | 'too-hot' | 'not-enrolled' | 'network-tried';
  /** The bus is reached by the network. */
  network?: boolean;
  /** Of the device, or of the bus. */
  nodes?: Array<number>;
  /** When it was last in order, as far as that is known. */
  since: string | null;
  /** Of a silent device: what it last said is wrong with it, or what is said of it. */
  trouble?: string;
  /** What is wrong, in the words of the program. */
  what?: string;
}

export interface ControllerAddress {
  /** Such as https://old-controller.local. */
  url: string;
}

export interface ControllerShown {
  /** SHA-256 of its certificate; compare it with what that controller itself shows. */
  fingerprint: string;
  /** Host and port: whose IDs these are. */
  source: string;
}

export interface Device {
  /** In the words of the driver. */
  device: string;
  lastSeen: string | null;
  nodes: Array<number>;
  online: boolean;
  stats: Stats;
  /** What it last said is wrong with it. */
  trouble?: string;
  /** Why it is offline: how it was last asked in vain. */
  why?: string;
}

export interface DeviceEdit {
  /** In the words of the bus's driver. */
  address: string;
  /** That all of them join, besides those they are in; 0: none. */
  cluster?: number;
  /** That the device itself holds; left out: as they are. */
  groups?: Array<string> | null;
  /** Each becomes a node. Without any, shades hang off a node that is no light. */
  lights?: Array<DeviceLight>;
  /** Refuse with 409 if the site has something at this address, unless that is just what is asked for: then nothing is changed. */
  new?: boolean;
  /** Name of a cluster to make, that all of them join. */
  newCluster?: string;
  /** What the next installer should know of it, at most 500 characters; left out: as it is. */
  note?: string | null;
  /** Left out: as they are, none with another profile. */
  options?: Record<string, string> | null;
  profile: string;
  shades?: Array<DeviceShade>;
}

export interface DeviceLight {
  /** Of a node of this device that it is to be; left out: that of the same outputs, else one left over that shares an output, else a new one. */
  id?: number;
  /** Left out: the one it has. */
  name?: string;
  /** From 1, as channels in this order; left out: all that no shade is made of. */
  outputs?: Array<number>;
}

export interface DeviceMade {
  nodes: Array<Node>;
  shades: Array<Shade>;
}

export interface DeviceShade {
  /** Of a shade of this device that it is to be; left out: the one on this output, else a new one. */
  id?: number;
  /** Left out: the one it has. */
  name?: string;
  /** Shade output of the profile, from 1. */
  output: number;
}

export interface Done {
  /** Their IDs in the ledger. */
  entries: Array<string>;
  error?: string;
  /** All of them succeeded. */
  ok: boolean;
}

export interface Drilled {
  buses: number;
  clusters: number;
  /** API keys. */
  keys: number;
  made: string | null;
  nodes: number;
  ownCertificate: boolean;
  profiles: number;
  shades: number;
  /** Entries that can be restored and not read. */
  unreadable: Array<string>;
  users: number;
}

export interface Due {
  at: string;
  /** Clocks are changed then: twice, the time comes twice and counts once; skipped, it does not come, and the moment after the gap counts. */
  clock?: 'twice' | 'skipped';
  name: string;
  rule: number;
}

export interface Entry {
  acceptedAt: string | null;
  channel?: number;
  doneAt: string | null;
  /** How many members failed, and the first of them. */
  error?: string;
  id: string;
  kelvin?: number | null;
  kind: string;
  level?: number | null;
  members: Array<Member>;
  /** Every addressed member that is online has it. */
  ok: boolean;
  position?: number | null;
  rgbw?: Colour | null;
  target: Target;
  via: string;
  who: string;
  why: string;
}

export interface EntryDetail {
  acceptedAt: string | null;
  channel?: number;
  doneAt: string | null;
  /** How many members failed, and the first of them. */
  error?: string;
  frames: Array<BusFrame>;
  id: string;
  kelvin?: number | null;
  kind: string;
  level?: number | null;
  members: Array<Member>;
  /** Every addressed member that is online has it. */
  ok: boolean;
  position?: number | null;
  rgbw?: Colour | null;
  target: Target;
  via: string;
  who: string;
  why: string;
}

export interface Fact {
  name: string;
  value: unknown;
}

export interface Fault {
  what: string;
  where: string;
}

export interface FieldError {
  /** What is wrong with it. */
  detail: string;
  /** The field, as a JSON pointer. */
  pointer: string;
}

export interface Floor {
  /** Square metres; 0: not known. */
  areaM2: number;
  clusters: Array<number>;
  etag: string;
  name: string;
  /** null: there is none. */
  plan: Plan | null;
}

export interface FloorEdit {
  /** The floor that it is to be above; empty: it is the lowest. A new one is the highest. */
  above?: string | null;
  /** Square metres; 0: not known. */
  areaM2?: number | null;
  /** All that are on it; they leave the floors that they were on. */
  clusters?: Array<number> | null;
  /** Unique in the building. */
  name?: string | null;
}

export interface FloorOfSite {
  clusters: Array<number>;
  name: string;
  /** The entity tag of the floor, if it has a plan: another one when the picture or where things stand is. */
  plan?: string;
}

export interface Found {
  address: string;
  advice?: string;
  detail?: string;
  finding: 'device' | 'noAddress' | 'note' | 'collision' | 'damaged' | 'settings' | 'babble' | 'silent' | 'profile' | 'late' | 'echo' | 'hindered';
  /** What is behind it are nodes, the address itself is none. */
  gateway?: boolean;
  groups?: Array<string>;
  /** The profile that fits best. */
  kind?: string;
  label?: string;
  /** Outputs that can be lights. */
  lights?: number;
  /** Line settings at which it answers, if not those of the bus. */
  line?: Line | null;
  /** The site had nothing at this address when the scan first told of it. */
  new?: boolean;
  /** Nodes of the site at this address. */
  nodes?: Array<number>;
  options?: Record<string, string>;
  /** Profiles that cannot be told apart from it by reading. */
  others?: Array<string>;
  serial?: string;
  /** Outputs that can be shades, which take outputs that could be lights. */
  shades?: number;
  /** Something has to be put right. */
  trouble: boolean;
  version?: string;
}

export interface Frame {
  at: string;
  /** What the bytes mean, in one line; controllerd bus decode tells every field. */
  decoded?: string;
  direction: 'sent' | 'received' | 'discarded';
  hex: string;
  /** Frames before this one that a slow reader missed. */
  lost?: number;
  note?: string;
}

export interface Freshness {
  idleShade: number;
  light: number;
  movingShade: number;
  power: number;
}

export interface GroupCluster {
  /** That covers exactly these devices; left out: none, see why. */
  group?: string;
  id: number;
  /** Devices. */
  members: Array<string>;
  name: string;
  /** Commands use the group. */
  ready: boolean;
  why?: string;
}

export interface GroupDevice {
  device: string;
  /** Held and somebody else's: left alone. */
  foreign: Array<string>;
  has: Array<string>;
  inStep: boolean;
  /** The table was read. */
  known: boolean;
  online: boolean;
  /** null: not since the start. */
  readAt: string | null;
  should: Array<string>;
  trouble?: string;
}

export interface GroupStep {
  /** Empty: about the bus. */
  device: string;
  what: string;
}

export interface Groups {
  clusters: Array<GroupCluster>;
  devices: Array<GroupDevice>;
  /** use: read, and written only when somebody says so; keep: read and written; off: neither. */
  mode: 'use' | 'keep' | 'off';
  /** Devices outside the site were looked for. */
  surveyed: boolean;
}

export interface Health {
  /** How the computer below does. Left out: its kernel tells nothing. */
  board?: Board | null;
  /** Entries that were set aside while the rest runs. */
  faults: Array<Fault>;
  /** Whether changes are kept: false while the disk is full or cannot be written. */
  kept: boolean;
  /** Why they are not. */
  notKept?: string;
  /** Why it is not. */
  notReady?: string;
  /** Operating system and processor, such as linux/arm64. */
  platform: string;
  ready: boolean;
  startedAt: string;
  /** Version of the whole system, where it is updated as one. */
  system?: string;
  /** Of the controller's clock. */
  time: string;
  version: string;
}

export interface Holiday {
  /** 2026-12-24, 12-25 of every year, 12-24..01-02. */
  dates: string;
  name?: string;
}

export interface HourUsed {
  /** Of the hour that were measured. */
  minutes: number;
  wattHours: number;
}

export interface Job {
  /** Of a device; of a job that finds out, the port. */
  address?: string;
  bus?: string;
  /** Who began it. */
  by: string;
  endedAt: string | null;
  error?: string;
  /** How many items there are. */
  found: number;
  id: string;
  /** What it found out: of a scan Found, of a service ServiceStep, of groups GroupStep, of a calibration MeasuredLeg, of a drill Drilled, of findout PortAnswer. Left out of an event if they did not change. */
  items?: Array<unknown>;
  kind: 'scan' | 'identify' | 'service' | 'groups' | 'calibrate' | 'direction' | 'migration' | 'drill' | 'findout';
  progress: JobProgress;
  /** What it wants to know of a person; answer with POST /jobs/{id}/answer. */
  question: JobQuestion | null;
  /** Of a calibration or a direction that is done, and of a calibration that asks whether to save it. */
  result?: ShadeResult | null;
  service?: string;
  shade?: number;
  startedAt: string | null;
  state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled';
  /** What it works on, for people. There is one job a subject at a time. */
  subject: string;
}

export interface JobAnswer {
  answer: string;
  /** Of the question. */
  number: number;
}

export interface JobProgress {
  /** Steps so far: addresses looked at, legs begun. */
  done: number;
  /** Where a shade is on its way. */
  moving?: Moving | null;
  /** 0 to 1; left out where nobody knows. */
  share?: number;
  text: string;
}

export interface JobQuestion {
  /** Why the answer before was not taken: soon, no shade is at its end within 2 s. */
  again?: 'soon';
  /** begin: may the next leg begin? stands: answer when the shade stands. sure: does it, though this way took less than half of the other, or more than twice as long? save: shall what result says as new replace the old times? went: which way did it go? */
  ask: 'begin' | 'stands' | 'sure' | 'save' | 'went';
  /** The answers that it takes. */
  choices: Array<string>;
  leg: Leg;
  number: number;
  /** Of sure: what the other way took, in seconds. */
  other?: number;
  /** Of sure: what this way took, in seconds. */
  took?: number;
}

export interface JobRequest {
  /** Of identify, in the words of the bus's driver. */
  address?: string;
  /** Of a scan: try other usual bit rates and parities as well. */
  allSettings?: boolean;
  /** Of calibrate: ask before every leg. */
  ask?: boolean;
  /** Name or UUID; of a scan, identify, service, groups. */
  bus?: string;
  /** Save nothing. */
  dryRun?: boolean;
  /** Of a scan: the first address. */
  first?: number;
  inputs?: Record<string, string>;
  kind: 'scan' | 'identify' | 'service' | 'groups' | 'calibrate' | 'direction' | 'findout';
  /** Of a scan: the last address. */
  last?: number;
  /** Of identify, instead of bus and address. */
  node?: number;
  /** Of calibrate: what becomes of them. Left out: a person is asked. */
  oldTimes?: 'ask' | 'replace';
  /** Of identify, with a profile: the light output, from 1; 0: the first. */
  output?: number;
  /** Of findout: the port that no bus uses, as a bus would have it; of a socket tcp://host:port. */
  port?: string;
  /** Of identify, for a device that the site does not have: one that cannot show itself has an output switched three times, and is left as it was. */
  profile?: string;
  /** Of calibrate: how often both ways; 0: once if the motor tells its position, else twice. */
  runs?: number;
  /** See /buses/{bus}/services. */
  service?: string;
  /** Of calibrate and direction; of identify, instead of bus and address. */
  shade?: number;
}

export interface Key {
  createdAt: string | null;
  id: number;
  /** At creation only; it is not stored. */
  key?: string;
  lastUsed: string | null;
  name: string;
  /** First 8 digits, to recognise it by. */
  prefix: string;
  uuid: string;
  /** It may command; otherwise read only. */
  write: boolean;
}

export interface Leg {
  number: number;
  /** From 1; 0: the way to the first end, which is not timed. */
  run: number;
  up: boolean;
}

export interface Line {
  baudRate?: number;
  dataBits?: number;
  parity?: 'none' | 'even' | 'odd';
  stopBits?: number;
}

export interface LogLine {
  at: string;
  /** The rest of the line, as key=value. */
  details?: string;
  /** Ascending since the start of the program. */
  id: number;
  level: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  message: string;
}

export interface Login {
  /** Answer with a cookie that no script can read, and no tokens. */
  browser?: boolean;
  password: string;
  username: string;
}

export interface Logout {
  refresh_token?: string;
}

export interface Lost {
  feed: 'entries' | 'jobs';
  lost: number;
}

export interface MeasuredLeg {
  number: number;
  /** From 1; 0: the way to the first end, which is not timed. */
  run: number;
  seconds: number;
  uncertainty: number;
  up: boolean;
}

export interface Member {
  acknowledgedAt?: string | null;
  channel?: number;
  error?: string;
  node?: number;
  observedAt?: string | null;
  sentAt?: string | null;
  shade?: number;
  stage: 'accepted' | 'sent' | 'acknowledged' | 'observed' | 'unverifiable' | 'failed' | 'offline';
}

export interface Migrated {
  /** The file of the backup that was made before. */
  backup: string;
  /** Since it was taken over last. */
  changes: Array<MigrationChange>;
  clusters: Array<MigrationItem>;
  conflicts: Array<MigrationConflict>;
  /** Of the migration; 0: nothing was new, and nothing was changed. */
  id: number;
  nodes: Array<MigrationItem>;
  shades: Array<MigrationItem>;
  source: string;
  warnings: Array<string>;
}

export interface Migration {
  at: string | null;
  by: string;
  /** How many came over. */
  clusters: number;
  id: number;
  nodes: number;
  shades: number;
  source: string;
  /** null: it holds. */
  undoneAt: string | null;
  /** At the newest of a house that holds; null: nobody looks there. */
  watch: MigrationWatch | null;
}

export interface MigrationChange {
  here: string;
  id: number;
  kind: 'cluster' | 'node' | 'shade';
  there: string;
  what: 'new' | 'renamed' | 'gone' | 'joined' | 'left';
}

export interface MigrationConflict {
  /** What stands in the way. */
  here: string;
  id: number;
  kind: 'cluster' | 'node' | 'shade';
  /** Its name in the other house. */
  there: string;
}

export interface MigrationItem {
  action: 'create' | 'return' | 'rename' | 'change' | 'unchanged' | 'skip';
  id: number;
  name: string;
}

export interface MigrationPreview {
  /** Since it was taken over last. */
  changes: Array<MigrationChange>;
  clusters: Array<MigrationItem>;
  conflicts: Array<MigrationConflict>;
  /** Of the job that read it; POST /migrations wants it. */
  id: string;
  nodes: Array<MigrationItem>;
  readAt: string | null;
  shades: Array<MigrationItem>;
  source: string;
  warnings: Array<string>;
}

export interface MigrationSource {
  /** SHA-256 of its certificate, 64 hexadecimal digits, in any case, with colons or without. */
  fingerprint: string;
  password: string;
  /** Such as https://old-controller.local. */
  url: string;
  username: string;
}

export interface MigrationStart {
  /** 100 meant closed there: turn the direction of shades on the public API. */
  invertShades?: boolean;
  /** refuse, if left out: nothing comes over. skip: what conflicts is left out. */
  onConflict?: 'refuse' | 'skip';
  /** ID of the preview that was looked at. */
  preview: string;
  /** Look every night for what has changed there. Its refresh token is kept for that, as a secret. */
  watch?: boolean;
}

export interface MigrationUndo {
  /** Although it was changed since. */
  force?: boolean;
}

export interface MigrationWatch {
  /** From when it was taken over. */
  differences: number;
  lookedAt: string | null;
  /** Why the last look failed. */
  trouble?: string;
}

export interface Moving {
  /** Seconds. */
  elapsed: number;
  number: number;
  position: number | null;
  /** From 1; 0: the way to the first end, which is not timed. */
  run: number;
  up: boolean;
}

export interface Network {
  /** Whether PUT sets it: true on an appliance. Elsewhere the system that the controller runs on does, and only ports are told. */
  canSet: boolean;
  /** While one is tried: why POST keep would be refused to who asks this; left out: it would not. */
  cannotKeep?: string;
  /** By which it is found without an address, such as controller-4f2a6b.local; it stays whatever the address. */
  name?: string;
  /** As they are now, with VLANs on them. */
  ports: Array<NetworkPort>;
  /** How long it is tried. */
  secondsLeft?: number;
  /** The one in force, or that was asked for; null where the controller does not set it. */
  setting: NetworkSetting | null;
  /** Of the setting. asked: the system has not begun yet; trying: it goes back by itself unless POST keep comes over the new address in time; undone: it went back; refused: the system does not take what was wished. */
  state?: 'kept' | 'asked' | 'trying' | 'undone' | 'refused';
}

export interface NetworkPort {
  /** Each with the length of its network. */
  addresses: Array<string>;
  dns: Array<string>;
  gateway?: string;
  mac: string;
  name: string;
  /** Its cable leads somewhere. */
  up: boolean;
  /** Left out: a port itself. */
  vlan?: number;
}

export interface NetworkSetting {
  /** IPv4, with the length of its network, such as 192.168.1.20/24; left out: from the network (DHCP). */
  address?: string;
  /** Only with an address: up to 3 servers. */
  dns?: Array<string>;
  /** Only with an address; left out: no other networks are reached. */
  gateway?: string;
  /** Where there are several: the one that this is for; the others take their addresses from the network. */
  port?: string;
  /** 1 to 4094; left out: none. */
  vlan?: number;
}

export interface NewCertificate {
  /** PEM: the controller's own first, then those between it and its authority. */
  certificate: string;
  /** PEM, not encrypted. */
  key: string;
}

export interface NewKey {
  name: string;
  write: boolean;
}

export interface NewUser {
  /** At least 10 characters. */
  password: string;
  role: 'admin' | 'operator' | 'api_service' | 'viewer' | 'none';
  username: string;
}

export interface NightlyBackups {
  /** Why the last try failed; it is tried again every ten minutes. */
  failed?: string;
  /** Where they are kept, on the controller. */
  folder: string;
  /** How many there are. */
  kept: number;
  /** When the newest was made; null: there is none. */
  last: string | null;
}

export interface Node {
  abilities: Array<string>;
  /** In the words of the bus's driver. */
  address: string;
  /** Name of its bus; empty while it waits for binding. */
  bus: string;
  channels: Array<Channel>;
  clusters: Array<number>;
  /** For If-Match; changes with the configuration only. */
  etag: string;
  /** Why it is set aside. */
  fault?: string;
  groups?: Array<string>;
  id: number;
  kelvin: Valueint | null;
  /** null: never. */
  lastSeen: string | null;
  /** Percent; of a node the mean over its channels. */
  level: Valueint | null;
  name: string;
  /** What the next installer should know of the device. */
  note?: string;
  online: boolean;
  options?: Record<string, string>;
  outputs?: Array<number>;
  /** Watts; of a node the sum over its channels. */
  power: Valuefloat | null;
  profile: string;
  rgbw: ValueColour | null;
  tag: 'NODE' | 'PERIPHERAL';
  uuid: string;
  /** It waits for binding to a device. */
  waits?: boolean;
}

export interface NodeAges {
  id: number;
  kelvin?: number;
  lastSeen: number;
  level?: number;
  power?: number;
  rgbw?: number;
}

export interface NodeEdit {
  address?: string | null;
  /** Name or UUID; empty: none. */
  bus?: string | null;
  groups?: Array<string> | null;
  /** At creation only; found if left out. */
  id?: number | null;
  name?: string | null;
  /** What the next installer should know of the device, at most 500 characters; empty: nothing. */
  note?: string | null;
  options?: Record<string, string> | null;
  outputs?: Array<number> | null;
  profile?: string | null;
  tag?: 'NODE' | 'PERIPHERAL';
  /** With bus, address, profile or note: the other nodes at the same bus and address get these too, all in one. */
  wholeDevice?: boolean;
}

export interface OffsiteBackups {
  /** So many of the newest stay in each place. */
  keep: number;
  /** The owner's public key: only its secret key opens copies. Empty: no copies are made. */
  key: string;
  /** Copies of this controller are called controller-, this, the time, and .backup.age; empty before anything was set. */
  series: string;
  /** null: none are made on a server. */
  server: OffsiteServer | null;
  /** null: none are made on a stick. */
  stick: OffsiteCopies | null;
  /** Whether the system below mounts sticks. */
  stickPossible: boolean;
  /** A copy is being made now. */
  underWay: boolean;
}

export interface OffsiteCopies {
  /** When the last try failed; null: it did not. It is tried again after 10 minutes, and then ever more rarely. */
  failed: string | null;
  /** Its name. */
  file?: string;
  /** When the newest was made and read back; null: never. */
  last: string | null;
  /** What went wrong besides when the newest was made, such as that older ones could not be removed. */
  note?: string;
  /** There is no copy of the last three days. */
  overdue: boolean;
  /** Its bytes. */
  size?: number;
  /** Why it failed. */
  why?: string;
}

export interface OffsiteEdit {
  /** 1 to 400. */
  keep: number;
  /** The owner's public key, age1…, of age-keygen, the page or controllerd backup key. The secret key never comes here. */
  key: string;
  /** Left out: none. */
  server?: OffsiteServerEdit | null;
  stick?: boolean;
}

export interface OffsiteServer {
  ca?: string;
  copies: OffsiteCopies;
  fingerprint?: string;
  kind: 'webdav' | 's3';
  region?: string;
  url: string;
  user: string;
}

export interface OffsiteServerEdit {
  /** PEM: the authority that signed it, or itself. With neither, the authorities that the system trusts count. */
  ca?: string;
  /** SHA-256 of the server's certificate, which then counts whatever signed it. */
  fingerprint?: string;
  kind: 'webdav' | 's3';
  /** Of S3 the secret key. Left out it stays, if kind, address and user do. */
  password?: string;
  /** Of S3; us-east-1 if left out. */
  region?: string;
  /** https:// and the folder; of S3 https://server/bucket or https://server/bucket/folder. */
  url: string;
  /** Of S3 the access key. */
  user: string;
}

export interface Override {
  /** When it was set; each rule yields for a time of its own. */
  at: string;
  node?: number;
  shade?: number;
  who: string;
}

export interface PasswordChange {
  /** At least 10 characters; ends all sessions. */
  new: string;
  old: string;
}

export interface Past {
  from: string;
  /** When the history begins; null: there is none yet. */
  oldest: string | null;
  /** Seconds; 0: every change, 86400: days as the building's clock counts them. */
  step: number;
  /** Of the building, by which steps and days are counted: IANA name, UTC where it is not known. */
  timeZone: string;
  /** Not later than now. */
  to: string;
  tracks: Array<PastTrack>;
}

export interface PastTrack {
  /** level and position: percent, power: watts, online: 1 it answers, 0 it does not, in steps the part of the time in which it did. */
  aspect: 'level' | 'power' | 'position' | 'online';
  /** Seconds since 1970: from here on it was so, or the step begins. */
  at: Array<number>;
  /** Of the node, from 1. */
  channel?: number;
  /** Of the node or shade; empty: of all that were asked for, together. */
  name: string;
  node?: number;
  shade?: number;
  /** One for each time; null: not known. In steps the mean over the time in which it was known. */
  value: Array<number | null>;
}

export interface Picture {
  attention: Attention;
  buses: Array<Bus>;
  clusters: Array<Cluster>;
  jobs: Array<Job>;
  nodes: Array<Node>;
  ports: Array<Port>;
  shades: Array<Shade>;
  site: Site;
  /** The controller's clock. */
  time: string;
  version: string;
}

export interface Plan {
  height: number;
  /** Its name, which is another one when the picture is. */
  picture: string;
  spots: Array<Spot>;
  type: 'image/png' | 'image/jpeg' | 'image/svg+xml';
  /** Pixels, or the units of an SVG. */
  width: number;
}

export interface Port {
  /** Name of the bus that is on it; left out: none. */
  bus?: string;
  /** What that leads to now, such as /dev/ttyUSB0. */
  device: string;
  /** For people: maker, model and serial number, as far as the adapter tells. */
  name: string;
  /** As a bus names it: by the name that stays, where there is one. */
  port: string;
}

export interface PortAnswer {
  driver: string;
  found: Found;
  line: Line;
  options?: Record<string, string>;
  port: string;
}

export interface PortList {
  ports: Array<Port>;
}

export interface PowerPast {
  /** Such as 2026-11-03. */
  days: Array<string>;
  /** Meters and floors that are not in the list. */
  more: number;
  /** When the history begins; null: there is none yet. */
  oldest: string | null;
  /** Each by itself: meters may cover the same rooms. */
  sources: Array<PowerSource>;
  timeZone: string;
}

export interface PowerSource {
  /** What the meter covers, as its installer said. */
  covers?: string;
  /** 24 hours for each day; null: nothing was measured. */
  days: Array<Array<HourUsed | null>>;
  /** On which all of it is; empty: on several, or the whole building. */
  floor: string;
  /** So many lights measure themselves. */
  lights?: number;
  /** The node that measures; left out: lights of a floor that measure themselves. */
  meter?: number;
}

export interface Problem {
  /** What is wrong and what to do, for people. */
  detail: string;
  /** The fields that are wrong. */
  errors?: Array<FieldError>;
  /** The job under way that stands in the way. */
  job?: string;
  /** What the log knows this request by. */
  request?: string;
  /** The HTTP status. */
  status: number;
  /** The HTTP status in words. */
  title: string;
}

export interface Profile {
  caveats?: Array<string>;
  driver: string;
  /** Outputs that can be lights. */
  lights: number;
  name: string;
  /** Of each output that can be a shade, the outputs it is made of, which are no lights then. */
  shades?: Array<Array<number>>;
  /** Where what is known of it comes from. */
  source: string;
  title: string;
}

export interface PutAside {
  at: string;
  by: string;
}

export interface Refresh {
  refresh_token: string;
}

export interface Removed {
  buses?: Array<string>;
  clusters?: Array<number>;
  nodes?: Array<number>;
  shades?: Array<number>;
}

export interface Rule {
  actions: Array<Action>;
  enabled: boolean;
  etag: string;
  id: number;
  /** When it had reason to act last since the start. */
  last: Run | null;
  name: string;
  /** When it is due by clock or sun, within 14 days; null: nobody knows. */
  next: string | null;
  /** Why it cannot do all that it is to do. */
  trouble?: string;
  uuid: string;
  when: Trigger;
  /** For how long it leaves alone what somebody set by hand; 0: it does not. */
  yieldMinutes: number;
}

export interface RuleEdit {
  actions?: Array<Action> | null;
  enabled?: boolean | null;
  name?: string | null;
  when?: Trigger | null;
  yieldMinutes?: number | null;
}

export interface Run {
  at: string;
  /** Of the ledger. */
  entries: Array<string>;
  /** Why nothing, or not all, was done. */
  left?: string;
  name: string;
  rule: number;
  why: string;
}

export interface Scene {
  actions: Array<Action>;
  /** That it is offered in; 0: the whole building. */
  cluster: number;
  etag: string;
  id: number;
  name: string;
  uuid: string;
}

export interface SceneEdit {
  actions?: Array<Action> | null;
  /** Take the lights and shades of its cluster as they are now, instead of actions. */
  capture?: boolean;
  cluster?: number | null;
  name?: string | null;
}

export interface Schedule {
  due: Array<Due>;
  /** IANA name; empty: not known, it is UTC. */
  timeZone: string;
}

export interface Service {
  about: string;
  /** Devices keep something else afterwards. */
  changes: boolean;
  inputs: Array<ServiceInput>;
  name: string;
}

export interface ServiceInput {
  about: string;
  name: string;
  required: boolean;
}

export interface ServiceStep {
  address?: string;
  facts: Array<Fact>;
}

export interface Session {
  access_token?: string;
  /** Seconds. */
  expires_in?: number;
  /** read, operate, administer. */
  may: Array<string>;
  /** Good for one use. */
  refresh_token?: string;
  role: 'admin' | 'operator' | 'viewer';
  /** Name of the site. */
  site: string;
  /** The controller's clock. */
  time: string | null;
  token_type?: 'Bearer' | 'Cookie';
  username: string;
  /** Of the program; pages reload when it changes. */
  version: string;
}

export interface Shade {
  /** Name of that node's bus. */
  bus: string;
  clusters: Array<number>;
  etag: string;
  /** Why it is set aside. */
  fault?: string;
  id: number;
  /** The motor runs the other way than its profile says. */
  inverted: boolean;
  /** null: never. */
  lastSeen: string | null;
  /** The motor tells its position itself. */
  measured: boolean;
  motion: 'unknown' | 'stopped' | 'opening' | 'closing' | 'moving';
  name: string;
  /** The node it hangs off; 0 while it waits for binding. */
  node: number;
  online: boolean;
  output: number;
  /** Percent open: 100 is up, 0 is down. */
  position: Valueint | null;
  travelDown: number;
  /** Seconds from end to end; 0: not known. */
  travelUp: number;
  /** Of an estimated position, in percent points. */
  uncertainty: number;
  uuid: string;
  /** It waits for binding to a device. */
  waits?: boolean;
}

export interface ShadeAges {
  id: number;
  lastSeen: number;
  position?: number;
}

export interface ShadeEdit {
  /** At creation only; found if left out. */
  id?: number | null;
  inverted?: boolean | null;
  name?: string | null;
  /** 0: it waits for binding. */
  node?: number | null;
  output?: number | null;
  travelDown?: number | null;
  /** Seconds. */
  travelUp?: number | null;
}

export interface ShadeResult {
  down?: Travel | null;
  id: number;
  name: string;
  new: ShadeSettings;
  old: ShadeSettings;
  saved: boolean;
  up?: Travel | null;
  /** By a person; else by the shade's own position. */
  watched: boolean;
}

export interface ShadeSettings {
  inverted: boolean;
  travelDown: number;
  travelUp: number;
}

export interface Site {
  etag: string;
  /** Entries that were set aside while the rest runs. */
  faults: Array<Fault>;
  /** From the bottom up. */
  floors: Array<FloorOfSite>;
  freshness: Freshness;
  /** When rules may act otherwise than on other days. */
  holidays: Array<Holiday>;
  /** Turns the direction of shades on /svc/api, for houses whose Controller 1.0 meant 0 = open. */
  invertShades: boolean;
  /** Degrees, north positive; null: not known. */
  latitude: number | null;
  longitude: number | null;
  name: string;
  /** IANA name; empty: not known, and rules go by UTC. */
  timeZone: string;
}

export interface SiteChange {
  key: string;
  new: string;
  old: string;
}

export interface SiteEdit {
  freshness?: Freshness | null;
  /** All of them. */
  holidays?: Array<Holiday> | null;
  invertShades?: boolean | null;
  /** Degrees, north positive; together with longitude. */
  latitude?: number | null;
  /** Degrees, east positive. */
  longitude?: number | null;
  name?: string | null;
  /** IANA name such as Europe/Zurich. */
  timeZone?: string | null;
}

export interface SiteItem {
  changes?: Array<SiteChange>;
  family: 'bus' | 'node' | 'shade' | 'cluster' | 'scene' | 'rule';
  /** Buses have none. */
  id?: number;
  name: string;
  uuid: string;
}

export interface SiteReport {
  changed: Array<SiteItem>;
  created: Array<SiteItem>;
  preview: boolean;
  /** Removed; their IDs are never used again. */
  retired: Array<SiteItem>;
  /** Retired before, back under the ID they had. */
  returned: Array<SiteItem>;
  /** The site's name, its settings or the order of its buses changed. */
  settings: boolean;
  unchanged: Array<SiteItem>;
}

export interface Spot {
  cluster?: number;
  node?: number;
  shade?: number;
  /** 0 to 1, from the left of the picture. */
  x: number;
  /** 0 to 1, from its top. */
  y: number;
}

export interface Stats {
  busy: number;
  damaged: number;
  down: number;
  exchanges: number;
  expired: number;
  preempted: number;
  refused: number;
  silent: number;
}

export interface Target {
  id?: number;
  scope: 'all' | 'cluster' | 'node' | 'shade';
}

export interface Temperature {
  celsius: number;
  /** As the kernel names it. */
  zone: string;
}

export interface Tick {
  time: string;
}

export interface Travel {
  runs: Array<number>;
  seconds: number;
  spread: number;
  uncertainty: number;
}

export interface Trial {
  count: number;
  from: string;
  /** From when on it is known, if not from the beginning on; null: nothing is known. */
  since: string | null;
  /** The first 500. */
  times: Array<string>;
  to: string;
}

export interface Trigger {
  above?: number | null;
  below?: number | null;
  channel?: number;
  /** mon to sun, in the building's time zone; every day if left out. */
  days?: Array<string>;
  /** Days on which it does not act: 2026-12-24, 12-25 of every year, 12-24..01-02. */
  except?: Array<string>;
  /** How long it has to last. */
  forSeconds?: number;
  /** Not on holidays of the site, or only on them; as on all days if left out. */
  holidays?: 'not' | 'only';
  kind: 'time' | 'sunrise' | 'sunset' | 'value';
  node?: number;
  /** Minutes after sunrise or sunset; before it if negative. */
  offset?: number;
  quantity?: 'level' | 'power';
  /** Such as 07:30, by the clock on the wall. */
  time?: string;
}

export interface UpdateSource {
  /** https:// or http://, without a password; what counts is the bundle's signature. */
  url: string;
}

export interface UpdateStatus {
  /** Whether POST takes a bundle: true on an appliance. */
  canInstall: boolean;
  /** What there is to say of it. */
  report?: string;
  status: 'none installed' | 'under way' | 'updated' | 'undone' | 'refused';
  /** Version of the whole system, where it is updated as one. */
  system?: string;
  /** Of the daemon. */
  version: string;
}

export interface User {
  createdAt: string | null;
  id: number;
  role: 'admin' | 'operator' | 'api_service' | 'viewer' | 'none';
  username: string;
  uuid: string;
}

export interface UserEdit {
  /** Ends all their sessions. */
  password?: string | null;
  role?: 'admin' | 'operator' | 'api_service' | 'viewer' | 'none';
}

export interface ValueColour {
  /** When it was read. */
  at: string;
  /** restored: known before the restart and not read since; acknowledged: asked for and acknowledged; measured: read from the device; estimated: modelled; sent: the hardware cannot confirm. */
  source: 'restored' | 'acknowledged' | 'measured' | 'estimated' | 'sent';
  value: Colour;
}

export interface Valuefloat {
  /** When it was read. */
  at: string;
  /** restored: known before the restart and not read since; acknowledged: asked for and acknowledged; measured: read from the device; estimated: modelled; sent: the hardware cannot confirm. */
  source: 'restored' | 'acknowledged' | 'measured' | 'estimated' | 'sent';
  value: number;
}

export interface Valueint {
  /** When it was read. */
  at: string;
  /** restored: known before the restart and not read since; acknowledged: asked for and acknowledged; measured: read from the device; estimated: modelled; sent: the hardware cannot confirm. */
  source: 'restored' | 'acknowledged' | 'measured' | 'estimated' | 'sent';
  value: number;
}

/** What GET answers, by path; what follows a question mark is no part of it. */
export interface Got {
  '/attention': Attention;
  '/audit': Array<Audit>;
  '/auth/keys': Array<Key>;
  '/auth/users': Array<User>;
  [path: `/auth/users/${string}`]: User;
  '/backup/nightly': NightlyBackups;
  '/backup/offsite': OffsiteBackups;
  '/buses': Array<Bus>;
  [path: `/buses/${string}`]: BusDetail;
  '/certificate': Certificate;
  '/claim': ClaimState;
  '/clusters': Array<Cluster>;
  [path: `/clusters/${string}`]: Cluster;
  '/floors': Array<Floor>;
  [path: `/floors/${string}`]: Floor;
  '/health': Health;
  '/history': Past;
  '/history/power': PowerPast;
  '/jobs': Array<Job>;
  [path: `/jobs/${string}`]: Job;
  '/ledger': Array<Entry>;
  [path: `/ledger/${string}`]: EntryDetail;
  '/logs': Array<LogLine>;
  '/migrations': Array<Migration>;
  '/migrations/preview': MigrationPreview;
  '/network': Network;
  '/nodes': Array<Node>;
  [path: `/nodes/${string}`]: Node;
  '/openapi.json': Record<string, unknown>;
  '/overrides': Array<Override>;
  '/ports': Array<Port>;
  '/profiles': Array<Profile>;
  '/rules': Array<Rule>;
  [path: `/rules/${string}`]: Rule;
  '/runs': Array<Run>;
  '/scenes': Array<Scene>;
  [path: `/scenes/${string}`]: Scene;
  '/schedule': Schedule;
  '/session': Session;
  '/shades': Array<Shade>;
  [path: `/shades/${string}`]: Shade;
  '/site': Site;
  '/update': UpdateStatus;
}
