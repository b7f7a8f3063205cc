/**
 * A run: a server with receivers, traffic from the plan, disruptions, the calm, and the quiet at the end,
 * in which nothing new begins and everything that is due is waited for.
 */
import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { startDnsServer } from '../../test/fakes/dns-server.ts'
import { createRandom } from '../bench/seeding/random.ts'
import { createHistory, type History, LATE_STOP } from './history/history.ts'
import { findDue } from './ledger/due.ts'
import type { ProjectIds } from './ledger/read-database.ts'
import type { Operation, OperationKind } from './plan/operations.ts'
import type { Disruption, Plan } from './plan/plan.ts'
import { writeConfiguration } from './server/configuration.ts'
import type { Resources } from './server/judge-resources.ts'
import type { Sample } from './server/resources.ts'
import { readAtRest, sampleUsage } from './server/sample-usage.ts'
import { createServer, type Server } from './server/server.ts'
import { HANDLERS } from './traffic/handlers.ts'
import { makeContents, makeProjects } from './traffic/set-up.ts'
import { runOperations, type Traffic } from './traffic/traffic.ts'
import { disrupt, stopServer, type World } from './world/disrupt.ts'
import { findFreePorts } from './world/free-ports.ts'
import { startHookReceiver } from './world/hook-receiver.ts'
import { startSinks } from './world/sinks.ts'
import { makeZone } from './world/zone.ts'

export type RunResult = {
  history: History
  server: Server
  projects: ProjectIds
  endpointUrl: string
  resources: Resources
}

type Setting = { program: readonly string[]; folder: string; seed: number; plan: Plan }

const QUIET_MS = 300_000
const WARM_UP_BURST: readonly (readonly [OperationKind, number])[] = [
  ['read', 72],
  ['submit', 12],
  ['send-attachment', 12],
]
const WARM_UP_EVERY_MS = 10
/** A server that has started works for some time before the next disruption. */
const LEFT_ALONE_MS = 1_000
/** Nothing is due if nothing was due so often, because work leads to more work. */
const QUIET_LOOKS = 3
const LOOK_EVERY_MS = 500

/** @throws Error if the server does not start */
export async function run(setting: Setting): Promise<RunResult> {
  const history = createHistory()
  const stops: (() => unknown)[] = []
  const stopAll = async () => {
    for (const stop of stops.splice(0)) await stop()
  }
  const abort = () => void stopAll().finally(() => process.exit(1))
  process.once('SIGINT', abort).once('SIGTERM', abort)
  try {
    return await runThrough(setting, history, (stop) => stops.unshift(stop))
  } finally {
    await stopAll()
    process.off('SIGINT', abort).off('SIGTERM', abort)
  }
}

async function runThrough(
  { program, folder, seed, plan }: Setting,
  history: History,
  onEnd: (stop: () => unknown) => void,
): Promise<RunResult> {
  const [http = 0, inbound = 0, submission = 0, hookPort = 0] = await findFreePorts(4)
  const sinks = await startSinks(history, seed)
  onEnd(() => sinks.stop())
  const dns = await startDnsServer(makeZone())
  onEnd(() => dns.stop())
  const hooks = await startHookReceiver(history, { random: createRandom(seed), port: hookPort })
  onEnd(() => hooks.stop())
  mkdirSync(folder, { recursive: true })
  const ports = { http, inbound, submission, mx: sinks.port }
  const configuration = writeConfiguration(ports, dns.address)
  const server = createServer(program, { folder, configuration })
  onEnd(() => server.end())
  const url = `http://127.0.0.1:${http}`
  const projects = await makeProjects({ server, url, history })
  await server.start()
  const traffic: Traffic = {
    ...{ ...projects, history, sinks, server, hookUrl: hooks.url, reported: new Set() },
    ...(await makeContents(projects.main, hooks)),
    ...{ submissionPort: submission, inboundPort: inbound, commands: await listCommands(server) },
  }
  onEnd(() => closeClients(traffic))
  const world: World = { server, sinks, dns, hooks, history }

  say('the warm-up')
  await runOperations(traffic, listWarmUp(plan), HANDLERS)
  closeClients(traffic)
  const first = await readAtRest(server)

  say(`${plan.operations.length} operations and ${plan.disruptions.length} disruptions`)
  const samples: Sample[] = []
  const stopSampling = sampleUsage({ server, url }, samples)
  onEnd(stopSampling)
  const load = runOperations(traffic, plan.operations, HANDLERS)
  await disruptAll(world, plan)
  say('the calm')
  await disrupt(world, { kind: 'restart', at: plan.calmAt })
  const calmSince = Date.now()
  await load
  stopSampling()
  const calmMs = plan.loadMs - plan.calmAt

  say('the quiet')
  await server.command('queue', 'release', '--domain', 'slow.test')
  await waitForQuiet(server)
  closeClients(traffic)
  const last = await readAtRest(server)
  await stopServer(world)
  return {
    ...{ history, server, endpointUrl: `${hooks.url}/events` },
    projects: { main: projects.main.id, erasures: projects.erasures.id },
    resources: {
      samples: samples.filter(({ at }) => at > calmSince),
      ...{ first, last, calmMs },
      lateStops: history.disruptions.filter(({ kind }) => kind === LATE_STOP).length,
    },
  }
}

/** Kills and restarts follow each other; faults of the network happen beside them. */
async function disruptAll(world: World, { disruptions, calmAt }: Plan): Promise<void> {
  const startedAt = performance.now()
  const until = (at: number) => sleep(Math.max(0, startedAt + at - performance.now()))
  const isOfServer = ({ kind }: Disruption) => kind === 'kill' || kind === 'restart'
  const faults = disruptions
    .filter((disruption) => !isOfServer(disruption))
    .map(async (fault) => {
      await until(fault.at)
      await disrupt(world, fault)
    })
  for (const disruption of disruptions.filter(isOfServer)) {
    await until(disruption.at)
    await disrupt(world, disruption)
    await sleep(LEFT_ALONE_MS)
  }
  await Promise.all(faults)
  await until(calmAt)
  await world.sinks.command({ do: 'calm' })
}

/**
 * Operations of each kind, and a burst of those that use threads which the server starts on demand, so
 * that all of these have been started. Their numbers follow those of the plan.
 */
function listWarmUp({ operations }: Plan): Operation[] {
  const kinds = Object.keys(HANDLERS) as OperationKind[]
  const burst = WARM_UP_BURST.flatMap(([kind, count]) => Array<OperationKind>(count).fill(kind))
  return [...kinds, ...burst, ...kinds].map((kind, index) => {
    const lot = (index * 0.37) % 1
    const number = operations.length + 1 + index
    return { number, at: index * WARM_UP_EVERY_MS, kind, lots: [lot, lot, lot, lot] }
  })
}

async function waitForQuiet(server: Server): Promise<void> {
  let looks = 0
  let due: Record<string, number> = {}
  for (const endsAt = Date.now() + QUIET_MS; looks < QUIET_LOOKS; await sleep(LOOK_EVERY_MS)) {
    due = findDue(server.database)
    looks = Object.keys(due).length === 0 ? looks + 1 : 0
    if (Date.now() < endsAt) continue
    say(`still due: ${JSON.stringify(due)}`)
    return
  }
}

function closeClients({ main, erasures }: Traffic): void {
  main.api.close()
  erasures.api.close()
}

/** The first words of the commands of this version. */
async function listCommands(server: Server): Promise<Set<string>> {
  const { stdout } = await server.command('--help')
  return new Set([...stdout.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name))
}

function say(text: string): void {
  console.log(`${new Date().toISOString().slice(11, 19)}  ${text}`)
}
