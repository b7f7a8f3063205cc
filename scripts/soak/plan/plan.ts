/**
 * The plan of a run, made from its seed: the same seed and length give the same plan.
 *
 *   0 to 75%      all traffic, with kills, graceful restarts and faults of the network
 *   75 to 100%    the calm: the same traffic and no disruption. It begins with a graceful restart, so
 *                 that its memory and delays are those of one process under one load.
 *
 * What a kill hits, and what the server answers, depend on the machine.
 */
import { createChoice, createRandom, pick, type Random } from '../../bench/seeding/random.ts'
import {
  CAMPAIGN_EVERY_MS,
  COMMAND_EVERY_MS,
  type Operation,
  type OperationKind,
  PER_SECOND,
  WEIGHTS,
} from './operations.ts'
import { SITES } from './sites.ts'

export type FaultKind =
  | 'dns-servfail'
  | 'dns-silent'
  | 'sink-down'
  | 'sink-reset'
  | 'sinks-frozen'
  | 'webhooks-down'

/** `at`: milliseconds since the start of the load. */
export type Disruption = { at: number } & (
  | { kind: 'kill'; isAtFinalDot: boolean }
  | { kind: 'restart' }
  | { kind: FaultKind; forMs: number; domain: string }
)

export type Plan = {
  loadMs: number
  calmAt: number
  operations: Operation[]
  disruptions: Disruption[]
}

const CALM_SHARE = 0.25
const KILLS_PER_MINUTE = 1.4
const MIN_KILLS = 3
const RESTART_EVERY_MS = 100_000
const FAULT_EVERY_MS = 18_000
/** The server is left alone so long, to start under load. */
const FIRST_DISRUPTION_MS = 3_000

const FAULTS: readonly (readonly [FaultKind, weight: number, minMs: number, maxMs: number])[] = [
  ['dns-servfail', 1, 4_000, 12_000],
  ['dns-silent', 1, 4_000, 12_000],
  ['sink-down', 3, 3_000, 12_000],
  ['sink-reset', 3, 0, 0],
  ['sinks-frozen', 2, 1_000, 6_000],
  // Shorter than the first delay of a webhook that failed.
  ['webhooks-down', 2, 1_000, 4_000],
]

const REACHED_SITES = SITES.filter(({ behaviour }) => behaviour !== 'dead')

export function makePlan({ seed, minutes }: { seed: number; minutes: number }): Plan {
  const loadMs = minutes * 60_000
  const calmAt = loadMs * (1 - CALM_SHARE)
  const operations = makeOperations(createRandom(seed), loadMs)
  const disruptions = makeDisruptions(createRandom(seed ^ 0x5bd1_e995), { loadMs, calmAt })
  return { loadMs, calmAt, operations, disruptions }
}

function makeOperations(random: Random, loadMs: number): Operation[] {
  const kindOf = createChoice(random, WEIGHTS)
  const count = Math.floor((loadMs / 1_000) * PER_SECOND)
  const mixed = Array.from({ length: count }, () => ({ at: random() * loadMs, kind: kindOf() }))
  const regular = (kind: OperationKind, everyMs: number) =>
    Array.from({ length: Math.floor(loadMs / everyMs) }, (_, index) => ({
      at: (index + random() * 0.8) * everyMs,
      kind,
    }))
  return [
    ...mixed,
    ...regular('campaign', CAMPAIGN_EVERY_MS),
    ...regular('command', COMMAND_EVERY_MS),
  ]
    .sort((a, b) => a.at - b.at)
    .map(({ at, kind }, index) => {
      const lots = [random(), random(), random(), random()] as const
      return { number: index + 1, at: Math.round(at), kind, lots }
    })
}

function makeDisruptions(
  random: Random,
  { loadMs, calmAt }: { loadMs: number; calmAt: number },
): Disruption[] {
  const kills = Math.max(MIN_KILLS, Math.round((loadMs / 60_000) * KILLS_PER_MINUTE))
  const span = { from: FIRST_DISRUPTION_MS, to: calmAt - FIRST_DISRUPTION_MS }
  const faultOf = createChoice(
    random,
    FAULTS.map((fault) => [fault, fault[1]] as const),
  )
  return [
    ...instants(random, kills, span).map((at) => {
      return { at, kind: 'kill', isAtFinalDot: random() < 0.5 } as const
    }),
    ...instants(random, Math.max(1, Math.floor(calmAt / RESTART_EVERY_MS)), span).map((at) => {
      return { at, kind: 'restart' } as const
    }),
    ...instants(random, Math.max(1, Math.floor(calmAt / FAULT_EVERY_MS)), span).map((at) => {
      const [kind, , minMs, maxMs] = faultOf()
      const forMs = Math.round(minMs + random() * (maxMs - minMs))
      // A fault that lasts is over when the calm begins.
      const { domain } = pick(random, REACHED_SITES)
      return { at: Math.min(at, calmAt - forMs), kind, forMs, domain }
    }),
  ].sort((a, b) => a.at - b.at)
}

/** One in each of so many equal parts of the span: at random, and never all of them at its end. */
function instants(random: Random, count: number, span: { from: number; to: number }): number[] {
  const part = (span.to - span.from) / count
  return Array.from({ length: count }, (_, index) =>
    Math.round(span.from + (index + random()) * part),
  )
}
