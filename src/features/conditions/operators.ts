/** The operators of conditions, and which a field takes (contract 4.2). */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../clock.ts'

const equality = ['equals', 'notEquals'] as const
const comparison = [
  ...equality,
  'greaterThan',
  'lessThan',
  'greaterThanOrEqual',
  'lessThanOrEqual',
] as const
const substring = ['contains', 'notContains'] as const
const age = ['within', 'olderThan'] as const
const occurrence = [
  'triggered',
  'triggeredWithin',
  'triggeredOlderThan',
  'notTriggered',
  'notTriggeredWithin',
] as const
const membership = ['memberOfSegment', 'notMemberOfSegment'] as const

export const operatorsByKind = {
  email: [...equality, ...substring],
  subscribed: equality,
  instant: [...comparison, ...age],
  data: [...comparison, ...substring, 'exists', 'notExists', ...age],
  event: occurrence,
  segment: membership,
} as const

export type FieldKind = keyof typeof operatorsByKind
export type OperatorOf<Kind extends FieldKind> = (typeof operatorsByKind)[Kind][number]
export type Operator = OperatorOf<FieldKind>
export type EventOperator = OperatorOf<'event'>
export type Unit = 'days' | 'hours' | 'minutes'

export const operators: readonly Operator[] = [
  ...new Set(Object.values(operatorsByKind).flat()),
].sort()

export const unitMs: Record<Unit, number> = {
  days: DAY_MS,
  hours: HOUR_MS,
  minutes: MINUTE_MS,
}
export const units = Object.keys(unitMs) as Unit[]

/** Those whose value is a span: a number of units back from now. */
const spanning: readonly string[] = [
  ...age,
  'triggeredWithin',
  'triggeredOlderThan',
  'notTriggeredWithin',
] satisfies Operator[]

/** Those that say everything by themselves. */
const plain: readonly string[] = [
  'exists',
  'notExists',
  'triggered',
  'notTriggered',
  ...membership,
] satisfies Operator[]

export function takesSpan(operator: Operator): boolean {
  return spanning.includes(operator)
}

export function takesNoValue(operator: Operator): boolean {
  return plain.includes(operator)
}

/** The instant that a filter's span reaches back to; now, where it has none. */
export function startOfSpan(
  now: number,
  { value, unit }: { value?: unknown; unit?: Unit },
): number {
  return unit === undefined ? now : Math.round(now - Number(value) * unitMs[unit])
}

export function isEventOperator(operator: unknown): boolean {
  return (occurrence as readonly unknown[]).includes(operator)
}

export function isOperator(value: unknown): value is Operator {
  return (operators as readonly unknown[]).includes(value)
}

export function isUnit(value: unknown): value is Unit {
  return (units as readonly unknown[]).includes(value)
}
