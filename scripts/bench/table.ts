/** Medians of rounds, and a table for a terminal. */

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
}

/** A quarter of the values are below it: of figures that only a busy machine raises, the steadier one. */
export function firstQuartile(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 4)] ?? Number.NaN
}

/** The quantile of the values at `share` (0 to 1). */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.ceil((sorted.length - 1) * share)] ?? Number.NaN
}

/** Formats rows of cells; the first row is the head, numbers are aligned right. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    )
    console.log(cells.join('  '))
  }
}

export function show(value: number, digits = 0): string {
  return Number.isNaN(value) ? '-' : value.toFixed(digits)
}
