/**
 * The unit of the service. The server runs as a user of its own that may bind ports below 1024 and write
 * its data folder and the usual folder of backups; `systemd-analyze security` rates the unit at 2.0 or
 * better, which a test checks, and another one runs the server under it.
 *
 * Left out on purpose: `MemoryDenyWriteExecute` (V8 compiles at run time), `PrivateUsers` (port 25),
 * `PrivateNetwork` and `IPAddressDeny` (mail). The server lowers the priority of its delivery threads, so
 * `setpriority` is allowed. `NotifyAccess=all`, because `systemd-notify` is a process of its own.
 */

export const SERVICE_USER = 'pillarbox'
export const STATE_FOLDER = '/var/lib/pillarbox'
export const CONFIG_FOLDER = '/etc/pillarbox'
/** Every unit has this folder, because `init` proposes it and may run after the unit is written. */
export const BACKUP_FOLDER = '/var/backups/pillarbox'
/** The place of the executable, in the search path. */
export const PROGRAM_PLACE = '/usr/local/bin/pillarbox'
export const UNIT_FILE = '/etc/systemd/system/pillarbox.service'
/** What `systemctl enable` makes. */
export const ENABLED_LINK = '/etc/systemd/system/multi-user.target.wants/pillarbox.service'

type UnitInput = {
  /** The executable and its first arguments, as absolute paths. */
  program: readonly string[]
  /** Folders beside those of data and backups that the server writes. */
  writable: readonly string[]
}

export function formatUnit({ program, writable }: UnitInput): string {
  const command = [...program, 'serve'].map(quote).join(' ')
  const extra = writable.length === 0 ? [] : [`ReadWritePaths=${writable.map(quote).join(' ')}`]
  return `${[...HEAD, `ExecStart=${command}`, ...SERVICE, ...extra, ...SANDBOX].join('\n')}\n`
}

/** Quotes a path for a unit: `%` begins a specifier, `$` a variable, a line break another line. */
function quote(path: string): string {
  const escaped = path.replaceAll('%', '%%').replaceAll('$', '$$$$')
  if (/^[\w./:@+%-]+$/.test(escaped)) return escaped
  const quoted = escaped.replace(/["\\]/g, '\\$&')
  return `"${quoted.replace(/[\x00-\x1f\x7f]/g, toHex)}"`
}

/** As systemd reads it (systemd.syntax, "Quoting"): `\x0a`. */
function toHex(control: string): string {
  return `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`
}

const HEAD = [
  '[Unit]',
  'Description=Pillarbox email platform',
  'After=network-online.target',
  'Wants=network-online.target',
  // A fault at the start, such as an address or a disk that is not there yet, may last for minutes.
  'StartLimitIntervalSec=0',
  '',
  '[Service]',
  'Type=notify',
  'NotifyAccess=all',
  `User=${SERVICE_USER}`,
  `Group=${SERVICE_USER}`,
]

const SERVICE = [
  'Restart=always',
  'RestartSec=1s',
  // A wrong configuration does not get better by itself.
  'RestartPreventExitStatus=2',
  'TimeoutStartSec=120',
  'TimeoutStopSec=20',
  'WatchdogSec=60',
  'StateDirectory=pillarbox',
  'StateDirectoryMode=0700',
  // With `-`, a folder that somebody has removed does not stop the service.
  `ReadWritePaths=-${BACKUP_FOLDER}`,
  'UMask=0077',
  'LimitNOFILE=65536',
  // Shares of the machine's memory. Above the first the kernel takes pages back from the server; above the
  // second it ends the server, before the machine runs out of memory and ends something else. No acknowledged
  // mail is lost then.
  'MemoryHigh=70%',
  'MemoryMax=85%',
  // glibc raises its thresholds to the largest block that was freed: after a message of 30 MB, the server would
  // keep up to 60 MB that it does not use. And each thread would have arenas of its own.
  'Environment=MALLOC_ARENA_MAX=4 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=8388608',
]

const SANDBOX = [
  '',
  'AmbientCapabilities=CAP_NET_BIND_SERVICE',
  'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
  'NoNewPrivileges=yes',
  'ProtectSystem=strict',
  'ProtectHome=yes',
  'ProtectProc=invisible',
  'ProcSubset=pid',
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'PrivateMounts=yes',
  'ProtectClock=yes',
  'ProtectHostname=yes',
  'ProtectKernelLogs=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelTunables=yes',
  'ProtectControlGroups=yes',
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'RemoveIPC=yes',
  'LockPersonality=yes',
  'KeyringMode=private',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service',
  'SystemCallFilter=~@privileged @resources',
  'SystemCallFilter=setpriority',
  'SystemCallErrorNumber=EPERM',
  '',
  '[Install]',
  'WantedBy=multi-user.target',
]
