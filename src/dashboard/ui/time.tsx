/** An instant in the user's zone; UTC and the seconds show on hover. */
import { user } from '../api/session.ts'
import { fullTime, type Place, relativeTime, shortTime } from '../logic/format.ts'
import { locale } from '../text/text.ts'

/** The zone of the account, or the browser's for an account that never chose one. */
export function place(): Place {
  const chosen = user.value?.timezone
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  return { locale: locale(), timeZone: chosen === undefined || chosen === 'UTC' ? own : chosen }
}

type TimeProps = { at: string; form?: 'short' | 'full' | 'relative' }

export function Time({ at, form = 'short' }: TimeProps) {
  const utc = `${at.replace('T', ' ').replace(/\.\d+Z$/, '')} UTC`
  const shown =
    form === 'short'
      ? shortTime(at, new Date(), place())
      : form === 'full'
        ? fullTime(at, place())
        : relativeTime(at, new Date(), locale())
  return (
    <time dateTime={at} title={utc}>
      {shown}
    </time>
  )
}
