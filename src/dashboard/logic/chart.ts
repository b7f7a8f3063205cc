/**
 * The geometry of charts, in pixels of the picture: bars that are stacked, and lines. A value that is not known is
 * null and leaves a gap.
 */
import { scaleBand, scaleLinear, scalePoint } from 'd3-scale'
import { line, stack } from 'd3-shape'

export type ChartSeries = { key: string; values: readonly (number | null)[] }
/** The picture, and the room around what is drawn. */
export type ChartBox = {
  width: number
  height: number
  top: number
  right: number
  bottom: number
  left: number
}

export type ChartBar = {
  series: string
  index: number
  x: number
  y: number
  width: number
  height: number
}
export type ChartTick = { value: number; y: number }

/** Between two bars, as a part of their distance; at the ends, half of it. */
const GAP = 0.28
const MIN_TICKS = 3
/** Of a digit in the font of charts, 11 px. */
const DIGIT_WIDTH = 6.6
/** The least height of a bar that has a value, so that one of a million can be seen. */
const MIN_BAR = 1

/** `max`: the highest value of the axis, a round number; at least 1. */
export function layoutAxis(max: number, { height, top, bottom }: ChartBox) {
  const scale = scaleLinear([0, Math.max(max, 1)], [height - bottom, top]).nice(MIN_TICKS)
  // Counts have no halves.
  const ticks = scale.ticks(MIN_TICKS).filter((value) => Number.isInteger(value))
  return { scale, ticks: ticks.map((value): ChartTick => ({ value, y: scale(value) })) }
}

/** The room that the longest label beside the axis needs. */
export function axisRoom(labels: readonly string[]): number {
  return Math.max(0, ...labels.map(({ length }) => length)) * DIGIT_WIDTH + 12
}

export function layoutBars(series: readonly ChartSeries[], count: number, box: ChartBox) {
  const bands = scaleBand<number>(indexes(count), [box.left, box.width - box.right])
    .paddingInner(GAP)
    .paddingOuter(GAP / 2)
  const rows = indexes(count).map((index) =>
    Object.fromEntries(series.map(({ key, values }) => [key, values[index] ?? 0])),
  )
  const layers = stack<Record<string, number>>().keys(series.map(({ key }) => key))(rows)
  const { scale, ticks } = layoutAxis(Math.max(0, ...layers.flat(2)), box)
  const bars = layers.flatMap((layer) =>
    layer.flatMap(([low, high], index): ChartBar[] => {
      if (high <= low) return []
      const height = Math.max(scale(low) - scale(high), MIN_BAR)
      const x = bands(index) ?? 0
      return [
        { series: layer.key, index, x, y: scale(low) - height, width: bands.bandwidth(), height },
      ]
    }),
  )
  const step = bands.step()
  const centers = indexes(count).map((index) => (bands(index) ?? 0) + bands.bandwidth() / 2)
  return { bars, ticks, centers, step }
}

export function layoutLines(series: readonly ChartSeries[], count: number, box: ChartBox) {
  const points = scalePoint<number>(indexes(count), [box.left, box.width - box.right]).padding(0.5)
  const known = series.flatMap(({ values }) => values.filter((value) => value !== null))
  const { scale, ticks } = layoutAxis(Math.max(0, ...known), box)
  const centers = indexes(count).map((index) => points(index) ?? 0)
  const draw = line<number | null>()
    .defined((value) => value !== null)
    .x((_, index) => centers[index] ?? 0)
    .y((value) => scale(value ?? 0))
  const lines = series.map(({ key, values }) => ({
    series: key,
    path: draw([...values.slice(0, count)]) ?? '',
    dots: values.map((value) => (value === null ? null : scale(value))),
  }))
  return { lines, ticks, centers, step: points.step() }
}

/** The points whose labels fit beside one another, counted from the newest, which always has one. */
export function labelledPoints(count: number, step: number, labelWidth: number): number[] {
  const every = Math.max(1, Math.ceil(labelWidth / Math.max(step, 1)))
  return indexes(count).filter((index) => (count - 1 - index) % every === 0)
}

/** The point that a key leads to; undefined for a key that does nothing here. */
export function movePoint(key: string, from: number, count: number): number | undefined {
  const moves: Readonly<Record<string, number>> = {
    ArrowRight: from + 1,
    ArrowLeft: from - 1,
    PageDown: from + 7,
    PageUp: from - 7,
    Home: 0,
    End: count - 1,
  }
  const to = moves[key]
  return to === undefined ? undefined : Math.min(Math.max(to, 0), count - 1)
}

/** What a caption says: the sum, and the highest point. `peak`: undefined if all are zero or unknown. */
export function summarize(series: readonly ChartSeries[], count: number) {
  const sums = indexes(count).map((index) =>
    series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  )
  const total = sums.reduce((sum, value) => sum + value, 0)
  const highest = Math.max(0, ...sums)
  return {
    total,
    peak: highest === 0 ? undefined : { index: sums.indexOf(highest), value: highest },
  }
}

function indexes(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}
