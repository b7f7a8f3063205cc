/** The numbers of a chart. */
import { showValue } from './chart-marks.tsx'
import type { ChartProps } from './chart-props.ts'

type ChartTableProps = Pick<ChartProps, 'series' | 'points' | 'pointHead' | 'caption'>

export function ChartTable({ series, points, pointHead, caption }: ChartTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without a mouse, only the focus can scroll it.
    <section class="scroll table-of-chart" tabIndex={0} aria-label={caption}>
      <table>
        <thead>
          <tr>
            <th scope="col">{pointHead}</th>
            {series.map(({ key, label }) => (
              <th key={key} scope="col" class="num">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.map(({ title }, index) => (
            <tr key={title}>
              <th scope="row">{title}</th>
              {series.map(({ key, values }) => (
                <td key={key} class="num">
                  {showValue(values[index])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
