/** The points of the chart of mail, from the answers of the time series. */
import type { Place } from './format.ts'

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
    const zone = { timeZone: 'UTC' } as const
    return {
      label: day.toLocaleDateString(locale, { day: 'numeric', month: 'short', ...zone }),
      title: day.toLocaleDateString(locale, {
        ...{ weekday: 'short', day: 'numeric', month: 'long', ...zone },
      }),
    }
  })
}

/** The instant has the offset of the zone: its text is what the clock there shows. */
function nameHour(at: string, locale: string): NamedPoint {
  const shown = new Date(`${at.slice(0, 19)}Z`)
  const zone = { timeZone: 'UTC' } as const
  const time = { hour: '2-digit', minute: '2-digit', ...zone } as const
  const offset = at.slice(19)
  return {
    label: shown.toLocaleTimeString(locale, time),
    // In autumn, an hour comes twice with two offsets.
    title: `${shown.toLocaleString(locale, { weekday: 'short', day: 'numeric', month: 'short', ...time })} (${offset})`,
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
