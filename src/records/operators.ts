/** The operators of conditions, and the operators that each kind of field allows. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/clock.ts'

const EQUALITY = ['equals', 'notEquals'] as const
const COMPARISON = [
  ...EQUALITY,
  'greaterThan',
  'lessThan',
  'greaterThanOrEqual',
  'lessThanOrEqual',
] as const
const CHOICE = ['in', 'notIn'] as const
const SUBSTRING = ['contains', 'notContains'] as const
const AGE = ['within', 'olderThan'] as const
const OCCURRENCE = [
  'triggered',
  'triggeredWithin',
  'triggeredOlderThan',
  'notTriggered',
  'notTriggeredWithin',
] as const
const MEMBERSHIP = ['memberOfSegment', 'notMemberOfSegment'] as const

export const OPERATORS_BY_KIND = {
  email: [...EQUALITY, ...SUBSTRING, ...CHOICE],
  subscribed: EQUALITY,
  instant: [...COMPARISON, ...AGE],
  data: [...COMPARISON, ...SUBSTRING, ...CHOICE, 'exists', 'notExists', ...AGE],
  event: OCCURRENCE,
  segment: MEMBERSHIP,
} as const

export type FieldKind = keyof typeof OPERATORS_BY_KIND
export type OperatorOf<Kind extends FieldKind> = (typeof OPERATORS_BY_KIND)[Kind][number]
export type Operator = OperatorOf<FieldKind>
export type Unit = 'days' | 'hours' | 'minutes'

export const OPERATORS: readonly Operator[] = [
  ...new Set(Object.values(OPERATORS_BY_KIND).flat()),
].sort()

export const UNIT_MS: Record<Unit, number> = {
  days: DAY_MS,
  hours: HOUR_MS,
  minutes: MINUTE_MS,
}
export const UNITS = Object.keys(UNIT_MS) as Unit[]

/** Operators whose value is a number of units of time: a span that ends now. */
const SPAN_OPERATORS: readonly string[] = [
  ...AGE,
  'triggeredWithin',
  'triggeredOlderThan',
  'notTriggeredWithin',
] satisfies Operator[]

/** Operators without a value. */
const VALUELESS_OPERATORS: readonly string[] = [
  'exists',
  'notExists',
  'triggered',
  'notTriggered',
  ...MEMBERSHIP,
] satisfies Operator[]

export function takesSpan(operator: Operator): boolean {
  return SPAN_OPERATORS.includes(operator)
}

/** Whether the operator compares with a list of values. */
export function takesList(operator: Operator): boolean {
  return operator === 'in' || operator === 'notIn'
}

export function takesNoValue(operator: Operator): boolean {
  return VALUELESS_OPERATORS.includes(operator)
}

/** Returns the start of the span of time of a filter; `now` for a filter without a unit. */
export function startOfSpan(
  now: number,
  { value, unit }: { value?: unknown; unit?: Unit },
): number {
  return unit === undefined ? now : Math.round(now - Number(value) * UNIT_MS[unit])
}

export function isEventOperator(operator: unknown): boolean {
  return (OCCURRENCE as readonly unknown[]).includes(operator)
}

export function isOperator(value: unknown): value is Operator {
  return (OPERATORS as readonly unknown[]).includes(value)
}

export function isUnit(value: unknown): value is Unit {
  return (UNITS as readonly unknown[]).includes(value)
}
