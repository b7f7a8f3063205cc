/** The days and hours of a zone's clock within a range. */
import { dayAt, endOfHour, startOfDay, type Zone } from './zone.ts'

type Span = { fromAt: number; toAt: number }

/** Instants, rising: the start of each point, and at last the end of the span. */
export function dayBorders(zone: Zone, { fromAt, toAt }: Span): number[] {
  const borders = [fromAt]
  for (let day = dayAt(zone, fromAt) + 1; ; day += 1) {
    const at = startOfDay(zone, day)
    if (at >= toAt) return [...borders, toAt]
    // A day that the zone left out has no length.
    if (at > (borders.at(-1) ?? at)) borders.push(at)
  }
}

/** As `dayBorders`. An hour in which the clock changes is two points. */
export function hourBorders(zone: Zone, { fromAt, toAt }: Span): number[] {
  const borders = [fromAt]
  for (let at = endOfHour(zone, fromAt); at < toAt; at = endOfHour(zone, at)) borders.push(at)
  return [...borders, toAt]
}
