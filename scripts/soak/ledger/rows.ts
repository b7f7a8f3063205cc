/** The rows of the database that the ledger compares, as `read-database.ts` reads them. */
import type { ProjectName } from '../history/history.ts'

export type EmailRow = {
  id: string
  project: ProjectName
  recipient: string
  /** The number in its subject, or in the variables of its template. */
  number: number | null
  source: 'TRANSACTIONAL' | 'CAMPAIGN' | 'WORKFLOW'
  state: string
  status: string
  error: string | null
  campaignId: string | null
  executionId: string | null
  stepExecutionId: string | null
  createdAt: number
  updatedAt: number
  openedAt: number | null
  clickedAt: number | null
  /** Attempts after which the server knows that the receiver may have the message. */
  uncertainAttempts: number
}

export type ContactRow = {
  project: ProjectName
  email: string
  subscribed: boolean
  data: Record<string, unknown>
}

export type EventRow = {
  seq: number
  id: string
  project: ProjectName
  name: string
  emailId: string | null
  /** The number in its data. */
  number: number | null
  data: Record<string, unknown>
}

export type ExecutionRow = { id: string; email: string; status: string; exitReason: string | null }

export type StepRow = {
  id: string
  executionId: string
  email: string
  type: string
  status: string
}

export type CampaignRow = {
  id: string
  status: string
  rowsMade: number
  skippedUnsubscribed: number
}

export type ReceivedRow = { id: string; subject: string }
export type JobRow = { id: string; kind: string; state: string; error: string | null }
export type DeliveryRow = { id: string; eventId: string; status: string }
/** A figure that the server keeps, and the same figure counted from the rows. */
export type Count = { name: string; kept: number; recounted: number }

export type Rows = {
  emails: EmailRow[]
  contacts: ContactRow[]
  events: EventRow[]
  executions: ExecutionRow[]
  steps: StepRow[]
  campaigns: CampaignRow[]
  received: ReceivedRow[]
  jobs: JobRow[]
  /** Received mail that was not read. */
  unread: { id: string; state: string; error: string | null }[]
  /** Of the watched endpoint. */
  deliveries: DeliveryRow[]
  /** Events after this one are for the watched endpoint. */
  endpointAfterSeq: number
  counts: Count[]
  integrity: string[]
}
