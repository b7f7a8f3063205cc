/**
 * What the outside knows of a run: what clients asked for and were told, what receivers saw, and when
 * the server or the network was disrupted. The ledger compares it with the database.
 *
 * An answer decides what a request is: `acknowledged` (2xx), `refused` (4xx, or a 503 that was not
 * tried again), or `unknown` if the connection ended without one. All instants are epoch ms.
 */

export type Outcome = 'acknowledged' | 'refused' | 'unknown'
/** `erasures`: the project whose contacts are deleted together with their emails. */
export type ProjectName = 'main' | 'erasures'

/** A request for emails, one to each of `to`. */
export type SendRecord = {
  number: number
  project: ProjectName
  via: 'http' | 'smtp'
  to: readonly string[]
  outcome: Outcome
  /** Of an acknowledged one, in the order of `to`. */
  ids: readonly string[]
}

export type EventRecord = {
  number: number
  name: string
  email: string
  outcome: Outcome
  id: string | undefined
  startsWorkflow: boolean
}

/** Null: there is no such contact. */
export type ContactState = { subscribed: boolean; revision: number } | null

/** A contact that only its own operations change. */
export type ContactRecord = {
  email: string
  id: string | undefined
  /** The state after the last acknowledged request, and those after later requests without an answer. */
  possible: ContactState[]
  /** A request that was abandoned may still be carried out: nothing more is asked for the contact. */
  isRetired: boolean
  /** One request at a time. */
  isBusy: boolean
  acknowledged: number
}

export type ImportRecord = { number: number; outcome: Outcome; jobId: string; emails: string[] }

export type CampaignRecord = {
  number: number
  id: string
  /** The addresses of its audience. */
  audience: readonly string[]
  /** Whether a request to send it may have been carried out. */
  send: Outcome
  cancel: Outcome | undefined
}

/** A report or reply that was handed to the inbound listener. */
export type ReportRecord = {
  number: number
  kind: 'bounce' | 'complaint' | 'reply'
  emailId: string
  /** The Message-ID of the report, or the subject of the reply. */
  mark: string
  outcome: Outcome
  /** How often the octets were handed over: the last try ended with 250, those before without reply. */
  tries: number
}

export type VisitRecord = { emailId: string; kind: 'open' | 'click' }
export type UnsubscriptionRecord = { emailId: string; email: string; outcome: Outcome }
export type CancellationRecord = { kind: 'email' | 'execution'; id: string; outcome: Outcome }

/** A message that reached its final dot at a receiver. */
export type Arrival = {
  site: string
  emailId: string
  /** The number in the subject; null without one. */
  number: number | null
  to: string
  at: number
  /** When the 250 was sent; null if it was not, or not yet. */
  repliedAt: number | null
}

/** A recipient that a receiver refused for good (5yz). */
export type Refusal = { site: string; emailId: string; to: string; at: number }

/** A request of the server to the receiver of webhooks. `status` 0: the connection was cut. */
export type HookRequest = {
  path: string
  id: string
  at: number
  status: number
  isSigned: boolean
  /** The address of the contact that it is about. */
  email: string
}

/** A graceful stop that the server ended with a kill of itself. */
export const LATE_STOP = 'late stop'

/** From when to when something was disrupted; `to` is infinite until it ends. */
export type DisruptionRecord = { kind: string; from: number; to: number; domain?: string }

export type Surprise = { at: number; what: string; status: number; text: string }

export type History = {
  sends: SendRecord[]
  events: EventRecord[]
  contacts: Map<string, ContactRecord>
  imports: ImportRecord[]
  campaigns: CampaignRecord[]
  reports: ReportRecord[]
  visits: VisitRecord[]
  unsubscriptions: UnsubscriptionRecord[]
  cancellations: CancellationRecord[]
  /** Addresses of contacts whose deletion was asked for, in the project `erasures`. */
  erased: Map<string, Outcome>
  arrivals: Arrival[]
  refusals: Refusal[]
  hooks: HookRequest[]
  disruptions: DisruptionRecord[]
  /** Answers that no client expects. */
  surprises: Surprise[]
  /** How many requests had which answer. */
  answers: Record<string, number>
}

export function createHistory(): History {
  return {
    ...{ sends: [], events: [], contacts: new Map(), imports: [], campaigns: [], reports: [] },
    ...{ visits: [], unsubscriptions: [], cancellations: [], erased: new Map() },
    ...{ arrivals: [], refusals: [], hooks: [], disruptions: [], surprises: [], answers: {} },
  }
}

export function countAnswer({ answers }: Pick<History, 'answers'>, name: string): void {
  answers[name] = (answers[name] ?? 0) + 1
}
