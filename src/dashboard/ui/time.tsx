/** An instant in the user's zone; UTC and the seconds show on hover. */
import { user } from '../api/session.ts'
import {
  browserZone,
  dayTime,
  fullTime,
  type Place,
  relativeTime,
  shortTime,
} from '../logic/format.ts'
import { locale } from '../text/text.ts'
import { tick } from './clock.ts'

/** The zone of the account; undefined for an account that never chose one. */
export function chosenZone(): string | undefined {
  const chosen = user.value?.timezone
  return chosen === 'UTC' ? undefined : chosen
}

/** The zone of the account, or the browser's. */
export function place(): Place {
  return { locale: locale(), timeZone: chosenZone() ?? browserZone() }
}

/** `minute` and `second`: the time, and the day unless it is today. */
export type TimeForm = 'short' | 'minute' | 'second' | 'full' | 'relative'

type TimeProps = { at: string; form?: TimeForm }

const FORMS: Readonly<Record<TimeForm, (at: string, now: Date) => string>> = {
  short: (at, now) => shortTime(at, now, place()),
  minute: (at, now) => dayTime(at, now, place()),
  second: (at, now) => dayTime(at, now, place(), true),
  full: (at) => fullTime(at, place()),
  relative: (at, now) => relativeTime(at, now, locale()),
}

export function Time({ at, form = 'short' }: TimeProps) {
  const utc = `${at.replace('T', ' ').replace(/\.\d+Z$/, '')} UTC`
  // What happened after the last tick must not stand in the future.
  const shown = FORMS[form](at, new Date(Math.max(tick.value, Date.now())))
  return (
    <time dateTime={at} title={utc}>
      {shown}
    </time>
  )
}
