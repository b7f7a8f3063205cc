/** The error for what a campaign of some status cannot do, with the way that leads on. */
import { AppError } from '../../../base/errors.ts'
import type { CampaignStatus } from '../../../store/schema/words.ts'

const WAYS: Readonly<Record<CampaignStatus, string>> = {
  DRAFT: 'POST /campaigns/:id/send sends or schedules a draft; DELETE /campaigns/:id deletes it.',
  SCHEDULED:
    'To move it, send it again with another scheduledFor. To have a draft again, cancel it and duplicate it: ' +
    'POST /campaigns/:id/cancel, then /duplicate.',
  SENDING:
    'POST /campaigns/:id/pause stops it for a while, /cancel for good. A duplicate is a draft.',
  SENT: 'To change it and send it again, duplicate it: POST /campaigns/:id/duplicate.',
  CANCELLED: 'To change it and send it again, duplicate it: POST /campaigns/:id/duplicate.',
}

/** `cannot`: `be paused` */
export function wrongStatus(status: CampaignStatus, cannot: string): AppError {
  const text = `A campaign that is ${status} cannot ${cannot}.`
  return new AppError('BAD_REQUEST', text, { suggestion: WAYS[status] })
}
