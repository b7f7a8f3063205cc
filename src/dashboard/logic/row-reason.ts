/** The last column of a list of emails: why the email is where it is. */
import { type EmailState, stateOf } from './email-state.ts'
import { type Phrase, reasonPhrase } from './reason.ts'

export type ReasonedRow = {
  status: string
  state: string
  opens: number
  clicks: number
  openedAt: string | null
  clickedAt: string | null
  complainedAt: string | null
  reasonCode?: string | null
  reasonData?: unknown
}

/** Undefined for a code without text: the sentence of the server then stands there. */
export function rowReason(row: ReasonedRow): Phrase | undefined {
  return feedback(row, stateOf(row)) ?? reasonPhrase(row.reasonCode, row.reasonData)
}

/** What the person did says more than that the receiver had accepted the email. */
function feedback(row: ReasonedRow, state: EmailState): Phrase | undefined {
  const { opens, clicks, openedAt, clickedAt, complainedAt } = row
  if (state === 'complained' && complainedAt !== null) {
    return { key: 'reason.complained', values: { at: { at: complainedAt } } }
  }
  if (state === 'clicked' && clickedAt !== null) {
    const count = Math.max(1, clicks)
    return { key: 'reason.clicked', values: { count: { count }, at: { at: clickedAt } } }
  }
  if (state === 'opened' && openedAt !== null) {
    const count = Math.max(1, opens)
    return { key: 'reason.opened', values: { count: { count }, at: { at: openedAt } } }
  }
  return undefined
}
