/** Texts of lists: the filters, the rows and what stands below them. */
export const list = {
  'filter.clear': 'Beliebig',
  'filter.apply': 'Zeigen',
  'filter.more': '{name} und {count} weitere',
  'table.next': 'Nächste Zeile (Enter öffnet sie)',
  'table.previous': 'Vorige Zeile',
  'table.first': 'Erste Zeile',
  'table.last': 'Letzte geladene Zeile',
  'table.search': 'Suchen',
  'table.more': 'Weitere werden geladen',
  'list.new': { one: '{count} neu', other: '{count} neu' },
  'list.new.many': 'Mehr als {count} neu',
  'list.narrow': 'Die ersten {count} sind zu sehen. Ein engerer Filter zeigt die anderen.',
  'list.count': { one: '{count} Eintrag', other: '{count} Einträge' },
  'list.view': 'Ansicht',
} as const
