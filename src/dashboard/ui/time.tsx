/** An instant in the user's zone; UTC and the seconds show on hover. */
import { user } from '../api/session.ts'
import { dayTime, fullTime, type Place, relativeTime, shortTime } from '../logic/format.ts'
import { locale } from '../text/text.ts'

const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The zone of the account, or the browser's for an account that never chose one. */
export function place(): Place {
  const chosen = user.value?.timezone
  return {
    locale: locale(),
    timeZone: chosen === undefined || chosen === 'UTC' ? OWN_ZONE : chosen,
  }
}

/** `minute` and `second`: the time, and the day unless it is today. */
export type TimeForm = 'short' | 'minute' | 'second' | 'full' | 'relative'

type TimeProps = { at: string; form?: TimeForm }

const FORMS: Readonly<Record<TimeForm, (at: string) => string>> = {
  short: (at) => shortTime(at, new Date(), place()),
  minute: (at) => dayTime(at, new Date(), place()),
  second: (at) => dayTime(at, new Date(), place(), true),
  full: (at) => fullTime(at, place()),
  relative: (at) => relativeTime(at, new Date(), locale()),
}

export function Time({ at, form = 'short' }: TimeProps) {
  const utc = `${at.replace('T', ' ').replace(/\.\d+Z$/, '')} UTC`
  const shown = FORMS[form](at)
  return (
    <time dateTime={at} title={utc}>
      {shown}
    </time>
  )
}
