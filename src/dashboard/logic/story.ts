/** The story of an email: what has happened and what comes next, as items from the next to the first. */
import type { Email } from '../../client/types.d.ts'
import type { Tone } from './tone.ts'

export type Attempt = Email['attempts'][number]

export type AttemptStep = {
  step: string
  /** When it began: milliseconds since the attempt began. */
  at: number
  durationMs: number
  host: string | null
  address: string | null
  answer: string | null
  /** The receiver refused it, or it did not come about. */
  isRefused: boolean
}

type AttemptItem = {
  kind: 'attempt'
  number: number
  tone: Tone
  attempt: Attempt
  steps: readonly AttemptStep[]
}

export type StoryItem = { at: string } & (
  | { kind: 'next'; number: number }
  | AttemptItem
  | { kind: 'report'; tone: Tone; attempt: Attempt }
  | { kind: 'opened'; count: number; first: string }
  | { kind: 'clicked'; count: number; links: readonly { link: string; count: number }[] }
  | { kind: 'machines'; opens: number; clicks: number }
  | { kind: 'event'; name: Told; tone: Tone }
  | { kind: 'suppressed' }
  | { kind: 'accepted' }
)

export type Told = 'complained' | 'failed' | 'cancelled' | 'notSent'

/** The events that have an item of their own. Deliveries and bounces are told by their attempt or report. */
const TOLD: Readonly<Record<string, { name: Told; tone: Tone }>> = {
  'email.complaint': { name: 'complained', tone: 'bad' },
  'email.failed': { name: 'failed', tone: 'bad' },
  'email.suppressed': { name: 'notSent', tone: 'off' },
}

export type StoryFacts = Pick<
  Email,
  | ('attempts' | 'events' | 'createdAt' | 'nextAttemptAt' | 'machineOpens' | 'machineClicks')
  | ('opens' | 'clicks' | 'openedAt' | 'clickedAt' | 'status')
>

/** `suppressedAt`: when the address was suppressed because of this email; null if it was not. */
export function storyOf(email: StoryFacts, suppressedAt: string | null): StoryItem[] {
  const items = [
    ...planned(email),
    ...feedback(email),
    ...told(email),
    ...(suppressedAt === null ? [] : [{ kind: 'suppressed' as const, at: suppressedAt }]),
    ...attempts(email),
    { kind: 'accepted' as const, at: email.createdAt },
  ]
  // What stands first here is the later one of two at the same time.
  return items.sort((one, other) => rank(other) - rank(one))
}

function rank(item: StoryItem): number {
  if (item.kind === 'next') return Number.POSITIVE_INFINITY
  return item.kind === 'accepted' ? 0 : Date.parse(item.at)
}

function planned({ nextAttemptAt, attempts: made, status }: StoryFacts): StoryItem[] {
  if (nextAttemptAt === null || status === 'SENDING') return []
  return [{ kind: 'next', at: nextAttemptAt, number: made.filter(isAttempt).length + 1 }]
}

function isAttempt({ result }: Attempt): boolean {
  return !result.startsWith('reported-')
}

const TONES: Readonly<Record<string, Tone>> = {
  delivered: 'good',
  relayed: 'good',
  deferred: 'warn',
  interrupted: 'warn',
  bounced: 'bad',
  failed: 'bad',
}

function attempts({ attempts: made }: StoryFacts): StoryItem[] {
  const inOrder = [...made].sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
  let number = 0
  return inOrder
    .map((attempt): StoryItem => {
      const { at, result } = attempt
      const tone = TONES[result.replace('reported-', '')] ?? 'off'
      if (!isAttempt(attempt)) return { kind: 'report', at, tone, attempt }
      number += 1
      return { kind: 'attempt', at, tone, number, attempt, steps: attempt.steps.map(readStep) }
    })
    .reverse()
}

/** A step is an object of any form in the API. */
function readStep(given: Record<string, unknown>): AttemptStep {
  const { step, at, durationMs, host, address, reply, error } = given
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  return {
    step: String(step ?? ''),
    at: Number(at ?? 0),
    durationMs: Number(durationMs ?? 0),
    host: text(host),
    address: text(address),
    answer: replyText(reply) ?? text(error),
    isRefused: typeof error === 'string' || codeOf(reply) >= 400,
  }
}

function codeOf(reply: unknown): number {
  const { code } = (reply ?? {}) as { code?: unknown }
  return typeof code === 'number' ? code : 0
}

/** The step at which an attempt failed; what the server said after it follows from it. */
export function failedStep(steps: readonly AttemptStep[]): AttemptStep | undefined {
  return steps.find(({ isRefused }) => isRefused) ?? steps.at(-1)
}

/** A reply in the receiver's words, line by line: the code stands before each, as on the wire. */
export function replyText(reply: unknown): string | null {
  if (typeof reply !== 'object' || reply === null) return null
  const { code, enhancedCode, text } = reply as Record<string, unknown>
  const lead = [code, enhancedCode].filter((part) => part !== null && part !== undefined).join(' ')
  const line = [lead, typeof text === 'string' ? text : ''].filter((part) => part !== '').join(' ')
  return line === '' ? null : line
}

/** One item for all opens and one for all clicks, at the time of the last. */
function feedback(email: StoryFacts): StoryItem[] {
  const { events, opens, clicks, openedAt, clickedAt } = email
  const timesOf = (name: string) =>
    events.filter((event) => event.name === name).map(({ createdAt }) => createdAt)
  const items: StoryItem[] = []
  const machines = email.machineOpens + email.machineClicks
  const lastOpen = timesOf('email.open').at(-1) ?? openedAt
  const lastClick = timesOf('email.click').at(-1) ?? clickedAt
  if (lastClick !== null && clicks > 0) {
    items.push({ kind: 'clicked', at: lastClick, count: clicks, links: linksOf(email) })
  }
  if (lastOpen !== null && opens > 0) {
    items.push({ kind: 'opened', at: lastOpen, count: opens, first: openedAt ?? lastOpen })
  }
  if (machines > 0) {
    const at = email.attempts.map(({ at: time }) => time).at(-1) ?? email.createdAt
    items.push({ kind: 'machines', at, opens: email.machineOpens, clicks: email.machineClicks })
  }
  return items
}

function linksOf({ events }: StoryFacts): { link: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const { name, data } of events) {
    if (name !== 'email.click') continue
    const { link } = (data ?? {}) as { link?: unknown }
    if (typeof link === 'string') counts.set(link, (counts.get(link) ?? 0) + 1)
  }
  return [...counts]
    .map(([link, count]) => ({ link, count }))
    .sort((one, other) => other.count - one.count)
}

function told({ events }: StoryFacts): StoryItem[] {
  return events.toReversed().flatMap(({ name, createdAt, data }): StoryItem[] => {
    const found = TOLD[name]
    if (found === undefined) return []
    const isCancelled = (data as { reason?: unknown } | null)?.reason === 'cancelled'
    const said = isCancelled ? { name: 'cancelled' as const, tone: 'off' as const } : found
    return [{ kind: 'event', at: createdAt, ...said }]
  })
}
