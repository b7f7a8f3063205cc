/** How a person sees a list: its columns, and pages or one long table. This browser keeps it for each user. */
import { useMemo, useState } from 'preact/hooks'
import { user } from '../api/session.ts'
import {
  type Arrangement,
  arrange,
  readArrangement,
  usual,
  writeArrangement,
} from '../logic/columns.ts'
import type { Column } from './table.tsx'

export type ListView<Row> = {
  /** All columns that the list has. */
  all: readonly Column<Row>[]
  /** Those that are shown, in their order. */
  columns: readonly Column<Row>[]
  arrangement: Arrangement
  change(arrangement: Arrangement): void
  /** In pages, without endless scrolling. */
  isPaged: boolean
  setPaged(isPaged: boolean): void
}

/** `list`: its name in the storage. */
export function useListView<Row>(list: string, all: readonly Column<Row>[]): ListView<Row> {
  const owner = user.value?.id ?? ''
  const columnsKey = `pillarbox.columns.${owner}.${list}`
  const pagesKey = `pillarbox.pages.${owner}`
  const [arrangement, setArrangement] = useState(() =>
    readArrangement(localStorage.getItem(columnsKey), all),
  )
  const [isPaged, setPaged] = useState(localStorage.getItem(pagesKey) === 'on')
  const columns = useMemo(() => arrange(all, arrangement), [all, arrangement.shown])
  return {
    all,
    columns,
    arrangement,
    change: (wanted) => {
      setArrangement(wanted)
      const text = writeArrangement(wanted)
      keep(columnsKey, text === writeArrangement(usual(all)) ? undefined : text)
    },
    isPaged,
    setPaged: (wanted) => {
      setPaged(wanted)
      keep(pagesKey, wanted ? 'on' : undefined)
    },
  }
}

function keep(key: string, text: string | undefined): void {
  if (text === undefined) localStorage.removeItem(key)
  else localStorage.setItem(key, text)
}
