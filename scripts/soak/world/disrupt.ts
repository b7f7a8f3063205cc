/** Carries out the disruptions of the plan, and records from when to when each lasted. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { FakeDns } from '../../../test/fakes/dns-server.ts'
import { type DisruptionRecord, type History, LATE_STOP } from '../history/history.ts'
import type { Disruption, FaultKind } from '../plan/plan.ts'
import type { Server } from '../server/server.ts'
import type { HookReceiver } from './hook-receiver.ts'
import type { Sinks } from './sinks.ts'

export type World = {
  server: Server
  sinks: Sinks
  dns: FakeDns
  hooks: HookReceiver
  history: Pick<History, 'disruptions' | 'surprises'>
}

type Fault = Extract<Disruption, { kind: FaultKind }>

/** A kill that waits for a message to reach its final dot waits at most so long. */
const AIM_MS = 3_000

/** Runs one disruption to its end. Kills and restarts must not run at the same time. */
export async function disrupt(world: World, disruption: Disruption): Promise<void> {
  switch (disruption.kind) {
    case 'kill':
      if (disruption.isAtFinalDot) await Promise.race([world.sinks.nextArrival(), sleep(AIM_MS)])
      return record(world, { kind: 'kill' }, () => world.server.kill())
    case 'restart':
      return record(world, { kind: 'restart' }, async () => {
        await stopServer(world)
        await world.server.start()
      })
    default:
      return record(world, disruption, () => cause(world, disruption))
  }
}

/** A server that has not stopped in time was killed, for those who wait for it. */
export async function stopServer({ server, history }: Pick<World, 'server' | 'history'>) {
  const from = Date.now()
  const text = await server.stop()
  if (text === undefined) return
  const isLate = text === 'late'
  history.disruptions.push({ kind: isLate ? LATE_STOP : 'kill', from, to: Date.now() })
  if (!isLate) history.surprises.push({ at: from, what: 'SIGTERM', status: 0, text })
}

async function record(
  { history }: World,
  { kind, domain }: { kind: string; domain?: string },
  act: () => Promise<void>,
): Promise<void> {
  const entry: DisruptionRecord = { kind, from: Date.now(), to: Number.POSITIVE_INFINITY }
  if (domain !== undefined && kind.startsWith('sink-')) entry.domain = domain
  history.disruptions.push(entry)
  await act()
  entry.to = Date.now()
}

async function cause({ sinks, dns, hooks }: World, { kind, forMs, domain }: Fault): Promise<void> {
  switch (kind) {
    case 'dns-servfail':
    case 'dns-silent':
      dns.answerAll(kind === 'dns-silent' ? 'SILENT' : 'SERVFAIL')
      await sleep(forMs)
      return dns.answerAll(undefined)
    case 'sink-reset':
      return sinks.command({ do: 'reset', domain })
    case 'sink-down':
      await sinks.command({ do: 'down', domain })
      await sleep(forMs)
      return sinks.command({ do: 'up', domain })
    case 'sinks-frozen':
      sinks.freeze()
      await sleep(forMs)
      return sinks.thaw()
    case 'webhooks-down':
      await hooks.down()
      await sleep(forMs)
      return hooks.up()
  }
}
