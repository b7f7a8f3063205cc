/** How much the database of `bench:analytics` has, and of what. All of it is in one project. */
import { DAY_MS } from '../../../src/base/clock.ts'

export type Plan = {
  emails: number
  events: number
  contacts: number
  /** The emails and events are of the days before this instant. */
  until: number
}

export const DAYS = 100
export const CAMPAIGNS = 50
export const TEMPLATES = 60
export const WORKFLOWS = 10
export const LINKS = 500
export const EVENT_NAMES = 40
/** Besides those of four large mailbox providers. */
export const FIRMS = 296

/** From the environment: `EMAILS` and `EVENTS`, 5 M and four times as many if absent. */
export function readPlan(env: NodeJS.ProcessEnv, now: number): Plan {
  const emails = Number(env.EMAILS ?? 5_000_000)
  const events = Number(env.EVENTS ?? 4 * emails)
  if (!Number.isSafeInteger(emails) || !Number.isSafeInteger(events) || emails < 1_000) {
    throw new TypeError('EMAILS and EVENTS are numbers of rows; there are at least 1,000 emails.')
  }
  // More than a campaign has emails, because it has one for a contact.
  const contacts = Math.ceil(emails / 25)
  return { emails, events, contacts, until: now - (now % 1_000) }
}

export const beginOf = ({ until }: Plan): number => until - DAYS * DAY_MS
