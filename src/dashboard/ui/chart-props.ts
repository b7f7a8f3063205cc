/** What a chart shows. */

/** `tone`: the classes of the style sheet, 1 to 4. */
export type ChartSeriesProps = {
  key: string
  label: string
  values: readonly (number | null)[]
  tone: 1 | 2 | 3 | 4
}

export type ChartProps = {
  kind: 'bars' | 'line'
  /** What the chart says, as a sentence. */
  caption: string
  series: readonly ChartSeriesProps[]
  /** `label`: short, for the axis. `title`: in full. */
  points: readonly { label: string; title: string }[]
  /** The head of the first column of the table. */
  pointHead: string
}
