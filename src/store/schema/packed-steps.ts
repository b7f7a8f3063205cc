/**
 * Packs the steps of an attempt into one column: JSON of arrays instead of objects, a third of the
 * size. A step is `[step, at, durationMs, reply, host, address, error]`, a reply
 * `[code, enhancedCode, text]`. Null stands for a missing value; trailing ones are omitted.
 */

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

type PackedReply = [code: number, enhancedCode: string | null, text: string]
type PackedStep = [
  step: string,
  at: number,
  durationMs: number,
  reply?: PackedReply | null,
  host?: string | null,
  address?: string | null,
  error?: string | null,
]

export function packSteps(steps: readonly StoredStep[]): string {
  return JSON.stringify(steps.map(packStep))
}

export function unpackSteps(text: string): StoredStep[] {
  return (JSON.parse(text) as PackedStep[]).map(unpackStep)
}

function packStep({ step, at, durationMs, reply, host, address, error }: StoredStep): PackedStep {
  const packed = reply === undefined ? null : packReply(reply)
  if (error !== undefined)
    return [step, at, durationMs, packed, host ?? null, address ?? null, error]
  if (address !== undefined) return [step, at, durationMs, packed, host ?? null, address]
  if (host !== undefined) return [step, at, durationMs, packed, host]
  return packed === null ? [step, at, durationMs] : [step, at, durationMs, packed]
}

function packReply({ code, enhancedCode, text }: NonNullable<StoredStep['reply']>): PackedReply {
  return [code, enhancedCode, text]
}

function unpackStep([step, at, durationMs, reply, host, address, error]: PackedStep): StoredStep {
  return {
    step,
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
