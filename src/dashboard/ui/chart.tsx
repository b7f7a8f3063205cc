/**
 * A chart with its legend, its caption and its table. Points take the focus, arrow keys walk along them, and each
 * says all series. Series differ by colour and by pattern.
 */
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import {
  axisRoom,
  type ChartBox,
  labelledPoints,
  layoutAxis,
  movePoint,
  summarize,
} from '../logic/chart.ts'
import { chart as chartTexts } from '../text/en/chart.ts'
import { addTexts, t } from '../text/text.ts'
import { axisLabel, Bars, type ChartPlaces, Lines, showValue } from './chart-marks.tsx'
import type { ChartProps, ChartSeriesProps } from './chart-props.ts'
import { ChartTable } from './chart-table.tsx'

addTexts(chartTexts)

const HEIGHT = 186
const LABEL_WIDTH = 64
const BOX: Omit<ChartBox, 'width'> = { height: HEIGHT, top: 12, right: 4, bottom: 26, left: 0 }

export default function Chart({ kind, caption, series, points, pointHead }: ChartProps) {
  const [isTable, setTable] = useState(false)
  const id = useId()
  return (
    <figure class="figure">
      <figcaption class="row between small">
        <span>{caption}</span>
        <span class="legend muted">
          {series.map(({ key, label, tone }) => (
            <span key={key}>
              <svg class="chart swatch" viewBox="0 0 10 10" aria-hidden="true">
                {kind === 'bars' ? (
                  <>
                    <rect class={`b${tone}`} width="10" height="10" rx="2" />
                    {tone !== 1 && <path class="hatch" d="M-1 5 5 -1M-1 11 11 -1M5 11 11 5" />}
                  </>
                ) : (
                  <path class={`l${tone}`} d="M0 5H10" />
                )}
              </svg>
              {label}
            </span>
          ))}
          <button
            class="text-button"
            type="button"
            aria-expanded={isTable}
            aria-controls={id}
            onClick={() => setTable(!isTable)}
          >
            {isTable ? t('chart.picture') : t('chart.table')}
          </button>
        </span>
      </figcaption>
      <div id={id}>
        {isTable ? (
          <ChartTable {...{ series, points, pointHead, caption }} />
        ) : (
          <Picture {...{ kind, series, points, caption }} />
        )}
      </div>
    </figure>
  )
}

type PictureProps = Pick<ChartProps, 'kind' | 'series' | 'points' | 'caption'>

function Picture({ kind, series, points, caption }: PictureProps) {
  const element = useRef<HTMLDivElement>(null)
  const width = useWidth(element)
  const [active, setActive] = useState<number>()
  const highest =
    kind === 'bars'
      ? (summarize(series, points.length).peak?.value ?? 0)
      : Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const ticks = layoutAxis(highest, { ...BOX, width }).ticks
  const left = axisRoom(ticks.map(({ value }) => axisLabel(value)))
  const box: ChartBox = { ...BOX, left, width }
  const Marks = kind === 'bars' ? Bars : Lines
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the points inside take the focus and the keys.
    <div class="picture" ref={element} onMouseLeave={() => setActive(undefined)}>
      {width > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot stand in a picture.
        <svg class="chart" width={width} height={HEIGHT} role="group" aria-label={caption}>
          <Marks series={series} count={points.length} box={box} active={active}>
            {(mark) => <Points {...{ mark, points, series, box, active }} onActive={setActive} />}
          </Marks>
        </svg>
      )}
    </div>
  )
}

type PointsProps = Pick<ChartProps, 'points' | 'series'> & {
  mark: ChartPlaces
  box: ChartBox
  active: number | undefined
  onActive(index: number | undefined): void
}

/** The axis of the points, their areas that take focus and pointer, and what the active one says. */
function Points({ mark, points, series, box, active, onActive }: PointsProps) {
  const { centers, step } = mark
  const labelled = labelledPoints(points.length, step, LABEL_WIDTH)
  const last = points.length - 1
  return (
    <>
      {labelled.map((index) => (
        <AxisLabel key={index} x={centers[index] ?? 0} box={box} text={points[index]?.label} />
      ))}
      {points.map(({ title }, index) => (
        // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it takes keys that walk along the points.
        <rect
          key={title}
          class="point"
          x={(centers[index] ?? 0) - step / 2}
          y={box.top}
          width={step}
          height={box.height - box.bottom - box.top}
          tabIndex={index === (active ?? last) ? 0 : -1}
          role="img"
          aria-label={`${title}: ${describePoint(series, index)}`}
          onFocus={() => onActive(index)}
          onBlur={() => onActive(undefined)}
          onMouseEnter={() => onActive(index)}
          onKeyDown={(event) => {
            const to = movePoint(event.key, index, points.length)
            if (to === undefined) return
            event.preventDefault()
            const all = event.currentTarget.parentElement?.querySelectorAll<SVGElement>('.point')
            all?.[to]?.focus()
          }}
        />
      ))}
      {active !== undefined && points[active] !== undefined && (
        <Tip
          x={centers[active] ?? 0}
          box={box}
          title={points[active].title}
          lines={series.map(({ key, label, values, tone }) => ({
            ...{ key, tone, text: `${label}: ${showValue(values[active])}` },
          }))}
        />
      )}
    </>
  )
}

/** In the middle of its point, but never beyond the picture. */
function AxisLabel({ x, box, text }: { x: number; box: ChartBox; text: string | undefined }) {
  const isAtEnd = x + LABEL_WIDTH / 2 > box.width
  return (
    <text x={isAtEnd ? box.width : x} y={box.height - 8} text-anchor={isAtEnd ? 'end' : 'middle'}>
      {text}
    </text>
  )
}

type TipProps = {
  x: number
  box: ChartBox
  title: string
  lines: readonly { key: string; tone: number; text: string }[]
}

/** The lines of a point, on a ground of their size, within the picture. */
function Tip({ x, box, title, lines }: TipProps) {
  const text = useRef<SVGGElement>(null)
  const [size, setSize] = useState({ width: 0, height: 0 })
  const content = [title, ...lines.map((one) => one.text)].join('\n')
  useLayoutEffect(() => {
    const found = text.current?.getBBox()
    if (found !== undefined) setSize({ width: found.width, height: found.height })
  }, [content])
  const width = size.width + 16
  const left = Math.min(Math.max(x - width / 2, 0), Math.max(box.width - width, 0))
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it takes the focus; the point says the same.
    <g class="tip" transform={`translate(${Math.round(left)} 0)`} aria-hidden="true">
      <rect width={width} height={size.height + 14} rx="4" />
      <g ref={text}>
        <text class="tip-title" x="8" y="18">
          {title}
        </text>
        {lines.map(({ key, text: line }, index) => (
          <text key={key} x="8" y={34 + index * 15}>
            {line}
          </text>
        ))}
      </g>
    </g>
  )
}

function describePoint(series: readonly ChartSeriesProps[], index: number): string {
  return series.map(({ label, values }) => `${label} ${showValue(values[index])}`).join(', ')
}

/** The width of the element in pixels; 0 until it is measured. */
function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const observer = new ResizeObserver(([entry]) => {
      setWidth(Math.floor(entry?.contentRect.width ?? 0))
    })
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  return width
}
