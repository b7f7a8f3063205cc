/** Warnings that a campaign of the type TRANSACTIONAL goes to unsubscribed contacts, too. */
import type { FieldWarning } from '../../../base/errors.ts'
import type { CampaignRecord } from '../../../records/campaign.ts'

type Warn = { warn(warning: FieldWarning): void }
type Typed = Pick<CampaignRecord, 'type' | 'status'>

const TYPE = 'The type is TRANSACTIONAL.'
const EFFECT =
  'Unsubscribed contacts get the campaign too, without the footer and its link to unsubscribe'
const CHANGE = 'With "type": "MARKETING" the campaign leaves them out.'
const STOP =
  'POST /campaigns/:id/cancel stops it; a duplicate with "type": "MARKETING" leaves them out.'

/** `isCopied`: the type came from the template. The type of a campaign that sends cannot change. */
export function warnOfTransactional(
  { type, status }: Typed,
  { warn, isCopied = false }: Warn & { isCopied?: boolean },
): void {
  if (type !== 'TRANSACTIONAL' || (status !== 'DRAFT' && status !== 'SCHEDULED')) return
  const why = isCopied ? 'The type TRANSACTIONAL was copied from the template.' : TYPE
  warn({ field: 'type', message: `${why} ${EFFECT}.`, suggestion: CHANGE })
}

/** `unsubscribed`: the number of unsubscribed recipients; undefined if they were not counted. */
export function warnOfUnsubscribed(
  { status }: Typed,
  { warn, unsubscribed }: Warn & { unsubscribed: number | undefined },
): void {
  if (unsubscribed === 0) return
  const verb = unsubscribed === 1 ? 'is' : 'are'
  const figure =
    unsubscribed === undefined
      ? ''
      : `: ${unsubscribed.toLocaleString('en')} of the recipients ${verb} unsubscribed`
  const suggestion = status === 'SCHEDULED' ? CHANGE : STOP
  warn({ field: 'type', message: `${TYPE} ${EFFECT}${figure}.`, suggestion })
}
