/**
 * What the process of the server uses: memory, descriptors and threads from /proc, delays of its event
 * loop from `/metrics`.
 *
 * Descriptors of established TCP connections are counted apart: how many there are depends on clients
 * and receivers at that moment.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { residentMegabytes } from '../../bench/server.ts'

export type Descriptors = { lasting: number; connections: number; byKind: Record<string, number> }

export type Usage = { residentMegabytes: number; threads: number; descriptors: Descriptors }

export type Sample = {
  at: number
  residentMegabytes: number
  /** Of the last ten to twenty seconds; undefined in the first ones of a process. */
  loopDelayP99Ms: number | undefined
}

const ESTABLISHED_STATES = new Set(['01', '04', '05', '06', '08', '09', '0B'])

export function readUsage(pid: number): Usage {
  const threads = readdirSync(`/proc/${pid}/task`).length
  return {
    residentMegabytes: residentMegabytes(pid).now,
    threads,
    descriptors: countDescriptors(pid),
  }
}

function countDescriptors(pid: number): Descriptors {
  const connected = listConnectedSockets(pid)
  const byKind: Record<string, number> = {}
  let connections = 0
  for (const target of listTargets(pid)) {
    if (connected.has(target)) {
      connections += 1
      continue
    }
    const kind = kindOf(target)
    byKind[kind] = (byKind[kind] ?? 0) + 1
  }
  const lasting = Object.values(byKind).reduce((sum, count) => sum + count, 0)
  return { lasting, connections, byKind }
}

function listTargets(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)]
    } catch {
      // It was closed meanwhile.
      return []
    }
  })
}

/** `socket:[inode]` of each TCP connection, in any state but listening. */
function listConnectedSockets(pid: number): Set<string> {
  const lines = ['tcp', 'tcp6'].flatMap((name) =>
    readFileSync(`/proc/${pid}/net/${name}`, 'utf8').trim().split('\n').slice(1),
  )
  const fields = lines.map((line) => line.trim().split(/\s+/))
  const connected = fields.filter(([, , , state = '']) => ESTABLISHED_STATES.has(state))
  return new Set(connected.map((line) => `socket:[${line[9]}]`))
}

function kindOf(target: string): string {
  if (target.startsWith('socket:')) return 'listeners and UDP'
  if (target.startsWith('/')) return target.includes('pillarbox.db') ? 'database' : 'files'
  return target.replace(/:.*\[|\]|\d+/g, ' ').trim()
}

/** The value of a metric without labels; undefined if the text has none of these names. */
export function readMetric(text: string, ...names: string[]): number | undefined {
  for (const name of names) {
    const [, value] = new RegExp(`^${name} (\\S+)$`, 'm').exec(text) ?? []
    if (value !== undefined) return Number(value)
  }
  return undefined
}
