/** The receivers of mail of a run, in a process of their own, which the run can freeze. */
import { type Sink, startSink } from '../../../test/fakes/smtp-sink.ts'
import { createRandom } from '../../bench/seeding/random.ts'
import { SITES, type Site } from '../plan/sites.ts'
import { type BehaviourDeps, createBehaviour } from './sink-behaviour.ts'
import type { SinkCommand, SinkEvent } from './sink-events.ts'

const sinks = new Map<string, Sink>()
const behaviours = new Map<string, ReturnType<typeof createBehaviour>>()
let port = 0
let isCalm = false
let serials = 0

const report = (event: SinkEvent) => void process.send?.(event)

/** Commands are done one after the other. */
let last = Promise.resolve()
process.on('message', (command: SinkCommand) => {
  last = last.then(() => carryOut(command))
})
process.on('disconnect', () => process.exit())

async function carryOut(command: SinkCommand): Promise<void> {
  switch (command.do) {
    case 'start':
      await startAll(command.seed)
      report({ is: 'started', port })
      return
    case 'down':
      await stop(command.domain)
      break
    case 'up':
      await start(command.domain)
      break
    case 'reset':
      if (sinks.has(command.domain)) {
        await stop(command.domain)
        await start(command.domain)
      }
      break
    case 'calm':
      isCalm = true
      for (const { domain } of SITES) await start(domain)
  }
  report({ is: 'done' })
}

async function startAll(seed: number): Promise<void> {
  const deps: BehaviourDeps = {
    random: createRandom(seed),
    isCalm: () => isCalm,
    nextSerial: () => ++serials,
    report,
  }
  for (const site of SITES) {
    behaviours.set(site.domain, createBehaviour(deps, site))
    if (site.behaviour !== 'dead') await start(site.domain)
  }
}

/** Nothing if it listens already. */
async function start(domain: string): Promise<void> {
  const site = SITES.find((each) => each.domain === domain)
  if (site === undefined || sinks.has(domain)) return
  const sink = await startSink({ ...optionsOf(site), port })
  sinks.set(domain, sink)
  port = sink.port
}

function optionsOf({ host, domain }: Site) {
  const respond = behaviours.get(domain)
  return {
    host,
    name: `mx.${domain}`,
    forgets: true,
    ...(respond === undefined ? {} : { respond }),
  }
}

async function stop(domain: string): Promise<void> {
  const sink = sinks.get(domain)
  sinks.delete(domain)
  await sink?.stop()
}
