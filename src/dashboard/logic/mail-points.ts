/** The points of the chart of mail, from the answers of the time series. */
import { formatDate, type Place } from './format.ts'

type Point = { date?: string | undefined; at?: string | undefined; sent: number }

/** `label`: for the axis. `title`: in full. */
export type NamedPoint = { label: string; title: string }

/** Names of days and hours. Both are on the clock of the zone that was asked for. */
export function namePoints(
  points: readonly Point[],
  { locale }: Pick<Place, 'locale'>,
): NamedPoint[] {
  return points.map(({ date, at }) => {
    if (at !== undefined) return nameHour(at, locale)
    const day = new Date(`${date}T00:00:00Z`)
    const place = { locale, timeZone: 'UTC' }
    return { label: formatDate('day', day, place), title: formatDate('weekday', day, place) }
  })
}

/** The instant has the offset of the zone: its text is what the clock there shows. */
function nameHour(at: string, locale: string): NamedPoint {
  const shown = new Date(`${at.slice(0, 19)}Z`)
  const place = { locale, timeZone: 'UTC' }
  const offset = at.slice(19)
  return {
    label: formatDate('clock', shown, place),
    // In autumn, an hour comes twice with two offsets.
    title: `${formatDate('weekdayClock', shown, place)} (${offset})`,
  }
}

/** Campaign mail, and all other mail. A point of campaigns that is missing makes both unknown, never 0. */
export function splitByKind(all: readonly Point[], campaigns: readonly Point[] | undefined) {
  const ofCampaigns = all.map((_, index) => campaigns?.[index]?.sent ?? null)
  const rest = all.map(({ sent }, index) => {
    const campaign = ofCampaigns[index]
    return campaign == null ? null : Math.max(0, sent - campaign)
  })
  return { campaigns: ofCampaigns, rest }
}
