/**
 * Packs the steps of an attempt into one column: JSON of arrays instead of objects, a third of the
 * size. A step is `[step, at, durationMs, reply, host, address, error]`, a reply
 * `[code, enhancedCode, text]`. The names of the usual steps are numbers. Null stands for a missing
 * value; trailing ones are omitted. Texts that the row of the attempt has too are `=` in its steps.
 */

/** A step's number is its place in this list: names may be added at the end only. */
const NAMES = [
  ...['dns', 'connect', 'greeting', 'ehlo', 'starttls', 'auth', 'mail', 'rcpt', 'data'],
  'message',
]

/** A step as outbound records it. */
export type StoredStep = {
  step: string
  at: number
  durationMs: number
  reply?: { code: number; enhancedCode: string | null; text: string }
  host?: string
  address?: string
  error?: string
}

/** The columns of an attempt whose texts its steps repeat. */
type RepeatedTexts = {
  host: string | null
  address: string | null
  replyText: string | null
}

const AS_IN_ROW = '='

const NOTHING_REPEATED: RepeatedTexts = { host: null, address: null, replyText: null }

/** The unpacked steps with the texts that packing left to the row. */
export function withRepeated(steps: readonly StoredStep[], row: RepeatedTexts): StoredStep[] {
  const whole = (text: string, inRow: string | null) =>
    text === AS_IN_ROW ? (inRow ?? text) : text
  return steps.map(({ host, address, reply, ...step }) => ({
    ...step,
    ...(host === undefined ? {} : { host: whole(host, row.host) }),
    ...(address === undefined ? {} : { address: whole(address, row.address) }),
    ...(reply === undefined ? {} : { reply: { ...reply, text: whole(reply.text, row.replyText) } }),
  }))
}

type PackedReply = [code: number, enhancedCode: string | null, text: string]
type PackedStep = [
  step: string | number,
  at: number,
  durationMs: number,
  reply?: PackedReply | null,
  host?: string | null,
  address?: string | null,
  error?: string | null,
]

/** `row`: the texts that the row of the attempt has. */
export function packSteps(steps: readonly StoredStep[], row = NOTHING_REPEATED): string {
  return JSON.stringify(steps.map((step) => packStep(step, row)))
}

export function unpackSteps(text: string): StoredStep[] {
  return (JSON.parse(text) as PackedStep[]).map(unpackStep)
}

function packStep(one: StoredStep, row: RepeatedTexts): PackedStep {
  const { at, durationMs, error } = one
  const name = packName(one.step)
  const reply = one.reply === undefined ? null : packReply(one.reply, row.replyText)
  const host = one.host === row.host ? AS_IN_ROW : one.host
  const address = one.address === row.address ? AS_IN_ROW : one.address
  if (error !== undefined)
    return [name, at, durationMs, reply, host ?? null, address ?? null, error]
  if (address !== undefined) return [name, at, durationMs, reply, host ?? null, address]
  if (host !== undefined) return [name, at, durationMs, reply, host]
  return reply === null ? [name, at, durationMs] : [name, at, durationMs, reply]
}

function packName(step: string): string | number {
  const number = NAMES.indexOf(step)
  return number === -1 ? step : number
}

function packReply(
  { code, enhancedCode, text }: NonNullable<StoredStep['reply']>,
  inRow: string | null,
): PackedReply {
  return [code, enhancedCode, text === inRow ? AS_IN_ROW : text]
}

function unpackStep([name, at, durationMs, reply, host, address, error]: PackedStep): StoredStep {
  return {
    step: typeof name === 'number' ? (NAMES[name] ?? String(name)) : name,
    at,
    durationMs,
    ...given('host', host),
    ...given('address', address),
    ...(reply ? { reply: { code: reply[0], enhancedCode: reply[1], text: reply[2] } } : {}),
    ...given('error', error),
  }
}

function given<Key extends string>(key: Key, value: string | null | undefined) {
  return value === null || value === undefined ? {} : { [key]: value }
}
