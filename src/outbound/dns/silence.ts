/**
 * Which DNS servers give no answer at all. A look-up asks the next server when one is silent, so
 * that a dead server shows only as mail that takes its time. After a look-up that got no answer in
 * time each server is asked by itself; any answer counts, a refusal too. A silent server is asked
 * again by the clock until there is an answer.
 */
import { Resolver as NodeResolver } from 'node:dns/promises'
import type { Now } from '../../clock.ts'

export type DnsSilence = {
  /** A look-up got no answer from the server that was asked first. */
  suspect(): void
  stop(): void
}

export type SilenceOptions = {
  /** As `dns.servers`; empty = the system's. */
  servers: readonly string[]
  /** A domain to ask for. */
  name: string
  now: Now
  /** Told of every change of one server, and which are silent then. */
  changed(change: { server: string; isSilent: boolean; silent: readonly string[] }): void
  timeoutMs?: number
  /** From one round to the next. */
  pauseMs?: number
}

const TIMEOUT_MS = 2_000
const TRIES = 2
const PAUSE_MS = 30_000
const silentCodes = new Set(['ETIMEOUT', 'ECONNREFUSED'])

type Server = { name: string; dns: NodeResolver; isSilent: boolean }

export function createDnsSilence(options: SilenceOptions): DnsSilence {
  const { name, now, changed, timeoutMs = TIMEOUT_MS, pauseMs = PAUSE_MS } = options
  /** Made when they are suspected first: commands hardly ever do. */
  let servers: Server[] = []
  let isAsking = false
  let isStopped = false
  let askedAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  async function look(server: Server): Promise<void> {
    const isSilent = await isSilentNow(server.dns, name)
    if (isStopped || isSilent === server.isSilent) return
    server.isSilent = isSilent
    const silent = servers.filter((one) => one.isSilent).map((one) => one.name)
    changed({ server: server.name, isSilent, silent })
  }

  async function lookAtAll(): Promise<void> {
    isAsking = true
    if (servers.length === 0) servers = openServers(options.servers, timeoutMs)
    askedAt = now()
    clearTimeout(timer)
    await Promise.all(servers.map(look))
    isAsking = false
    if (isStopped || servers.every(({ isSilent }) => !isSilent)) return
    timer = setTimeout(() => void lookAtAll(), pauseMs).unref()
  }

  return {
    suspect() {
      // A domain whose own servers are dead looks the same: that is no reason to ask all the time.
      const hasPaused = Math.abs(now() - askedAt) >= pauseMs
      if (!isAsking && !isStopped && hasPaused) void lookAtAll()
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
    return silentCodes.has(code)
  }
}
