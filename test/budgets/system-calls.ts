/**
 * The system calls of an operation, as `strace` sees them: what is read, written, synced and opened. Waiting and waking
 * (`epoll_wait`, `futex`, `eventfd`) depend on the machine and are not counted.
 */
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Files that are not there: the process asks for them where a window begins and ends. */
export const MARKS = { begin: 'begin of a window', end: 'end of a window' }

const READS = ['read', 'readv', 'pread64', 'recvfrom', 'recvmsg', 'recvmmsg']
const WRITES = ['write', 'writev', 'pwrite64', 'sendto', 'sendmsg', 'sendmmsg']
const SYNCS = ['fsync', 'fdatasync']
const OTHERS = ['openat', 'accept4', 'connect', 'unlink', 'rename', 'ftruncate']

/** For the command after them, with all of its threads. */
export function straceArguments(trace: string): string[] {
  const traced = [...READS, ...WRITES, ...SYNCS, ...OTHERS, 'access', '?faccessat', '?faccessat2']
  return [
    ...['-f', '--seccomp-bpf', '-yy', '-s', '32', '-qq'],
    ...['-e', `trace=${traced.join(',')}`, '-o', trace],
  ]
}

export function isStraceInstalled(): boolean {
  return spawnSync('strace', ['-V']).error === undefined
}

/** By the names of the operations. */
export async function measureSystemCalls(): Promise<Map<string, Record<string, number>>> {
  // `server.ts` uses this module.
  const { measureAll } = await import('./measure.ts')
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-system-calls-'))
  try {
    const trace = path.join(folder, 'trace')
    const results = await measureAll(trace)
    const windows = readSystemCalls(await readFile(trace, 'utf8'))
    return new Map([...results.keys()].map((name, index) => [name, windows[index] ?? {}]))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Counts of each window, by kind, such as `write to a TCP socket`. */
export function readSystemCalls(text: string): Record<string, number>[] {
  const windows: Record<string, number>[] = []
  let counts: Record<string, number> | undefined
  for (const line of text.split('\n')) {
    if (line.includes(MARKS.begin)) counts = {}
    else if (line.includes(MARKS.end) && counts !== undefined) {
      windows.push(sorted(counts))
      counts = undefined
    } else if (counts !== undefined) {
      const kind = kindOf(line)
      if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1
    }
  }
  return windows
}

function kindOf(line: string): string | undefined {
  const [, name = '', rest = ''] = /^\d+ +(\w+)\((.*)/.exec(line) ?? []
  if (name === '' || / = -1 E(AGAIN|NOENT)\b/.test(rest)) return undefined
  if (OTHERS.includes(name)) return name
  const target = targetOf(/^\d+<([^>]*(?:->[^>]*)?)>/.exec(rest)?.[1] ?? '')
  if (target === undefined) return undefined
  if (SYNCS.includes(name)) return `sync of ${target}`
  if (READS.includes(name)) return `read from ${target}`
  return WRITES.includes(name) ? `write to ${target}` : undefined
}

/** None for pipes, events and the channel between test and process. */
function targetOf(file: string): string | undefined {
  const [, socket] = /^(TCP|UDP)/.exec(file) ?? []
  if (socket !== undefined) return `a ${socket} socket`
  if (file.endsWith('-wal')) return 'the log of the database'
  if (file.endsWith('.db')) return 'the database'
  return file.startsWith('/') ? 'another file' : undefined
}

function sorted(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1)))
}
