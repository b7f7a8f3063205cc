/**
 * Finds the DNS servers that do not answer at all. A look-up queries the next server if one is silent,
 * so without this check the only sign of a silent server would be slow mail. After a look-up without an
 * answer in time, each server is queried alone; any answer counts, even a refusal. A silent server is
 * queried by a timer until it answers.
 */
import { Resolver as NodeResolver } from 'node:dns/promises'
import type { Now } from '../../base/clock.ts'

type DnsSilence = {
  /** Call it when a look-up got no answer from the first server. */
  suspect(): void
  stop(): void
}

type SilenceOptions = {
  /** As `dns.servers`; empty = the system's. */
  servers: readonly string[]
  /** The domain to query. */
  name: string
  now: Now
  /** Called when one server changes, with all servers that are silent then. */
  changed(change: { server: string; isSilent: boolean; silent: readonly string[] }): void
  timeoutMs?: number
  /** Time between two rounds. */
  pauseMs?: number
}

const TIMEOUT_MS = 2_000
const TRIES = 2
const PAUSE_MS = 30_000
const SILENT_CODES = new Set(['ETIMEOUT', 'ECONNREFUSED'])

type Server = { name: string; dns: NodeResolver; isSilent: boolean }

export function createDnsSilence(options: SilenceOptions): DnsSilence {
  const { name, now, changed, timeoutMs = TIMEOUT_MS, pauseMs = PAUSE_MS } = options
  /** Created at the first suspicion: most commands never need them. */
  let servers: Server[] = []
  let isAsking = false
  let isStopped = false
  let askedAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  async function check(server: Server): Promise<void> {
    const isSilent = await isSilentNow(server.dns, name)
    if (isStopped || isSilent === server.isSilent) return
    server.isSilent = isSilent
    const silent = servers.filter((one) => one.isSilent).map((one) => one.name)
    changed({ server: server.name, isSilent, silent })
  }

  async function checkAll(): Promise<void> {
    isAsking = true
    if (servers.length === 0) servers = openServers(options.servers, timeoutMs)
    askedAt = now()
    clearTimeout(timer)
    await Promise.all(servers.map(check))
    isAsking = false
    if (isStopped || servers.every(({ isSilent }) => !isSilent)) return
    timer = setTimeout(() => void checkAll(), pauseMs).unref()
  }

  return {
    suspect() {
      // A domain whose own servers are silent looks the same, so this must not run all the time.
      const hasPaused = Math.abs(now() - askedAt) >= pauseMs
      if (!isAsking && !isStopped && hasPaused) void checkAll()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
      for (const { dns } of servers) dns.cancel()
    },
  }
}

function openServers(given: readonly string[], timeoutMs: number): Server[] {
  const names = given.length > 0 ? given : new NodeResolver().getServers()
  return names.map((name) => {
    const dns = new NodeResolver({ timeout: timeoutMs, tries: TRIES })
    dns.setServers([name])
    return { name, dns, isSilent: false }
  })
}

async function isSilentNow(dns: NodeResolver, name: string): Promise<boolean> {
  try {
    await dns.resolveMx(name)
    return false
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return SILENT_CODES.has(code)
  }
}
