/** A Markdown table: names on the left, figures on the right. */
export function table(heads, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const rule = heads.map((_, column) => (column === 0 ? '---' : '---:'));
  return [line(heads), line(rule), ...rows.map(line)].join('\n');
}

/** A figure with so many decimals; an empty cell where there is none. */
export function figure(value, decimals = 0) {
  if (value === undefined || Number.isNaN(value)) return '–';
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
