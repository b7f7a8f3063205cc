/** What a chart draws: bars on one another, or lines. Each kind gives its points' places to what stands above it. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { type ChartBox, type ChartTick, layoutBars, layoutLines } from '../logic/chart.ts'
import { formatNumber } from '../logic/format.ts'
import { locale, t } from '../text/text.ts'
import type { ChartSeriesProps } from './chart-props.ts'

/** The middles of the points, and their distance, in pixels. */
export type ChartPlaces = { centers: readonly number[]; step: number }

type MarksProps = {
  series: readonly ChartSeriesProps[]
  count: number
  box: ChartBox
  active: number | undefined
  children(mark: ChartPlaces): ComponentChildren
}

export function Bars({ series, count, box, active, children }: MarksProps) {
  const { bars, ticks, ...mark } = layoutBars(series, count, box)
  const id = useId()
  const toneOf = (key: string) => series.find((one) => one.key === key)?.tone ?? 1
  return (
    <>
      <defs>
        <pattern id={id} width="6" height="6" patternUnits="userSpaceOnUse">
          <path class="hatch" d="M-1 7 7 -1M-1 1 1 -1M5 7 7 5" />
        </pattern>
      </defs>
      <Ticks ticks={ticks} box={box} />
      {bars.map(({ series: key, index, ...place }) => (
        <g key={`${key} ${index}`} class={active === undefined || active === index ? '' : 'dim'}>
          <rect class={`b${toneOf(key)}`} {...place} />
          {toneOf(key) !== 1 && <rect fill={`url(#${id})`} {...place} />}
        </g>
      ))}
      {children(mark)}
    </>
  )
}

export function Lines({ series, count, box, active, children }: MarksProps) {
  const { lines, ticks, ...mark } = layoutLines(series, count, box)
  return (
    <>
      <Ticks ticks={ticks} box={box} />
      {lines.map(({ series: key, path, dots }, index) => {
        const tone = series[index]?.tone ?? 1
        const y = active === undefined ? null : dots[active]
        return (
          <g key={key}>
            <path class={`l${tone}`} d={path} />
            {active !== undefined && y != null && (
              <circle class={`b${tone}`} cx={mark.centers[active]} cy={y} r="4" />
            )}
          </g>
        )
      })}
      {children(mark)}
    </>
  )
}

export function showValue(value: number | null | undefined): string {
  return value == null ? t('chart.unknown') : formatNumber(value, locale())
}

/** `600K`: short, for the axis. */
export function axisLabel(value: number): string {
  return formatNumber(value, locale(), { notation: 'compact' })
}

function Ticks({ ticks, box }: { ticks: readonly ChartTick[]; box: ChartBox }) {
  return (
    <>
      {ticks.map(({ value, y }) => (
        // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it takes the focus.
        <g key={value} aria-hidden="true">
          <path class="grid" d={`M${box.left} ${y}H${box.width - box.right}`} />
          <text x={box.left - 8} y={y + 4} text-anchor="end">
            {axisLabel(value)}
          </text>
        </g>
      ))}
    </>
  )
}
