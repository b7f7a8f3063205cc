/**
 * The systemd unit of the service. The server runs as a user of its own, which may bind ports below
 * 1024 and write to its data folder and to the usual folder of backups. `systemd-analyze security`
 * rates the unit at 2.0 or better; a test checks this rating, and another test runs the server
 * under the unit.
 *
 * Left out on purpose: `MemoryDenyWriteExecute` (V8 compiles at run time), `PrivateUsers` (port
 * 25), `PrivateNetwork` and `IPAddressDeny` (mail). `setpriority` is allowed because the server
 * lowers the priority of its delivery threads. `NotifyAccess=all`, because `systemd-notify` is a
 * process of its own.
 */

export const SERVICE_USER = 'pillarbox'
export const STATE_FOLDER = '/var/lib/pillarbox'
export const CONFIG_FOLDER = '/etc/pillarbox'
/**
 * The usual folder of backups. Every unit names it, because `init`, which proposes it, may run
 * after the unit is written.
 */
export const BACKUP_FOLDER = '/var/backups/pillarbox'
/** The place of the executable, in a folder of the PATH. */
export const PROGRAM_PLACE = '/usr/local/bin/pillarbox'
export const UNIT_FILE = '/etc/systemd/system/pillarbox.service'
/** The link that `systemctl enable` makes. */
export const ENABLED_LINK = '/etc/systemd/system/multi-user.target.wants/pillarbox.service'

type UnitInput = {
  /** The executable and its first arguments, as absolute paths. */
  program: readonly string[]
  /** Folders that the server writes to, besides the usual ones of data and backups. */
  writable: readonly string[]
}

export function formatUnit({ program, writable }: UnitInput): string {
  const command = [...program, 'serve'].map(quote).join(' ')
  const extra = writable.length === 0 ? [] : [`ReadWritePaths=${writable.map(quote).join(' ')}`]
  return `${[...HEAD, `ExecStart=${command}`, ...SERVICE, ...extra, ...SANDBOX].join('\n')}\n`
}

/**
 * Quotes a path for a unit, where `%` begins a specifier, `$` a variable, and a line break another
 * line.
 */
function quote(path: string): string {
  const escaped = path.replaceAll('%', '%%').replaceAll('$', '$$$$')
  if (/^[\w./:@+%-]+$/.test(escaped)) return escaped
  const quoted = escaped.replace(/["\\]/g, '\\$&')
  return `"${quoted.replace(/[\x00-\x1f\x7f]/g, toHex)}"`
}

/** Writes a control character as systemd reads it, such as `\x0a` (systemd.syntax, "Quoting"). */
function toHex(control: string): string {
  return `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`
}

const HEAD = [
  '[Unit]',
  'Description=Pillarbox email platform',
  'After=network-online.target',
  'Wants=network-online.target',
  // systemd retries without end, because the cause of a failed start, such as a missing address or
  // disk, may last for minutes.
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
  // systemd does not retry after this status: a wrong configuration does not get better by itself.
  'RestartPreventExitStatus=2',
  'TimeoutStartSec=120',
  'TimeoutStopSec=20',
  'WatchdogSec=60',
  'StateDirectory=pillarbox',
  'StateDirectoryMode=0700',
  // The `-` lets the service start even if somebody has removed the folder.
  `ReadWritePaths=-${BACKUP_FOLDER}`,
  'UMask=0077',
  'LimitNOFILE=65536',
  // Shares of the machine's memory. Above the first, the kernel takes pages back from the server.
  // Above the second, the kernel ends the server, before the machine runs out of memory and another
  // program is ended. No acknowledged mail is lost then.
  'MemoryHigh=70%',
  'MemoryMax=85%',
  // Without these values, glibc raises its thresholds to the largest block that was freed: after a
  // message of 30 MB, the server would keep up to 60 MB that it does not use. Each thread would
  // also have arenas of its own.
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
