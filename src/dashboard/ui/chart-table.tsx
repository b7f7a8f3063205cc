/** The numbers of a chart. */
import { locale, t } from '../text/text.ts'
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
                  {values[index]?.toLocaleString(locale()) ?? t('chart.unknown')}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
