/** DELAY: the execution goes on after a span of minutes, hours or days. */
import { DAY_MS, formatInstant, HOUR_MS, MINUTE_MS } from '../../../../../base/clock.ts'
import type { DelayConfig, StepOf } from '../../graph/step-config.ts'
import type { OpenStep, StepCall, StepOutcome } from '../walk.ts'

const UNIT_MS = { minutes: MINUTE_MS, hours: HOUR_MS, days: DAY_MS } as const

export function beginDelay(
  { step: { config } }: StepCall<StepOf<'DELAY'>>,
  at: number,
): StepOutcome {
  const dueAt = at + Math.round(config.amount * UNIT_MS[config.unit])
  return { kind: 'waits', dueAt, scheduledFor: dueAt, output: describe(config, dueAt) }
}

/** An execution that is woken too early sleeps on. */
export function resumeDelay(
  { step: { config } }: StepCall<StepOf<'DELAY'>>,
  { scheduledFor }: OpenStep,
  at: number,
): StepOutcome {
  const dueAt = scheduledFor ?? at
  const output = describe(config, dueAt)
  if (dueAt > at) return { kind: 'waits', dueAt, scheduledFor: dueAt, output }
  return { kind: 'done', output }
}

function describe({ amount, unit }: DelayConfig, dueAt: number) {
  return { delayAmount: amount, delayUnit: unit, resumeAt: formatInstant(dueAt) }
}
