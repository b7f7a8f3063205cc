/** Why emails must not be sent, or not again: the codes of the API, and the words that emails store as their error. */
import type { RefusalCode } from '../../../../records/reason-codes.ts'
import {
  CONTENT_CLEARED,
  NO_SENDER_DOMAIN,
  PLATFORM_MAIL_NOT_KEPT,
  UNSUBSCRIBED,
} from '../delivery/prepare.ts'
import { DISABLED, NOT_ENABLED_IN_TIME } from '../disabled/mail-fate.ts'

/** Parts of sentences, without a full stop. */
export const REFUSAL_TEXTS: Readonly<Record<RefusalCode, string>> = {
  unsubscribed: UNSUBSCRIBED,
  suppressed: 'its address is on the suppression list',
  sender_unverified: NO_SENDER_DOMAIN,
  content_cleared: CONTENT_CLEARED,
  platform_mail_not_kept: PLATFORM_MAIL_NOT_KEPT,
  project_disabled: DISABLED,
  project_not_enabled_in_time: NOT_ENABLED_IN_TIME,
  campaign_cancelled: 'its campaign was cancelled',
}

const CODES = new Map(
  Object.entries(REFUSAL_TEXTS).map(([code, text]) => [text, code as RefusalCode]),
)

/** Finds the code of a stored error; null for an error of another kind. */
export function refusalCodeOf(error: string | null): RefusalCode | null {
  return CODES.get(error ?? '') ?? null
}
