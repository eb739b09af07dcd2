"""Style and template of the pages that ``view_html`` fills."""

STYLE = """\
.figures{display:flex;flex-wrap:wrap;gap:.7em;margin:1em 0}
.figures div{border:1px solid var(--line);border-radius:.5em;padding:.45em .9em}
.figures dt{font-size:.85em;opacity:.75}
.figures dd{margin:0;font-size:1.25em;font-variant-numeric:tabular-nums}
.figures .small{font-size:.95em;overflow-wrap:anywhere}
.options{display:grid;grid-template-columns:max-content 1fr;gap:.1em 1em;margin:.3em 0}
.options dd{margin:0;overflow-wrap:anywhere}
.tree{margin-top:1em;font-variant-numeric:tabular-nums}
.row{display:grid;gap:0 1em;align-items:center;padding:.1em .4em;\
border-bottom:1px solid var(--line);grid-template-columns:var(--columns)}
.row:hover{background:var(--soft)}
.row>*{white-space:nowrap;text-align:right}
.row>.t{text-align:left;overflow:hidden;text-overflow:ellipsis}
.row>.n{text-align:left;white-space:normal;overflow-wrap:anywhere}
.head{font-weight:bold;position:sticky;top:0;background:Canvas;z-index:2}
.total{font-weight:bold}
summary{list-style:none;cursor:pointer}
summary::-webkit-details-marker{display:none}
summary:focus-visible{outline:2px solid #56b4e9;outline-offset:-2px}
.n{position:relative;padding-left:calc(1.1em + var(--d,0)*.9em)}
.n::before{position:absolute;left:calc(var(--d,0)*.9em)}
summary .n::before{content:"\\25b8"}
details[open]>summary .n::before{content:"\\25be"}
@media (min-width:45em){.row>.n{position:sticky;left:0;background:Canvas;z-index:1}}
.q{opacity:.6}
.bar{position:relative;height:.8em;background:var(--soft)}
.bar::before,.bar::after{content:"";position:absolute;inset:0 auto 0 0;background:var(--c)}
.bar::before{width:var(--t,0);opacity:.45}
.bar::after{width:var(--o,0)}
.legend i{display:inline-block;width:1.6em;height:.7em;background:var(--c);margin:0 .4em 0 .2em}
.legend .all{opacity:.45}
@media print{details::details-content{content-visibility:visible;height:auto}\
.bar,.bar::before,.bar::after{print-color-adjust:exact}}
"""

BODY = """\
<header>
<h1>{{ heading }}</h1>
<p class="quiet">{{ explanation }} {{ steps }}</p>
{% if origin %}
<p class="quiet"><bdi>{{ origin }}</bdi></p>
{% endif %}
</header>
<main>
<dl class="figures">
{% for figure in figures %}
<div><dt>{{ figure.title }}</dt>\
<dd{% if figure.small %} class="small"{% endif %}><bdi>{{ figure.text }}</bdi></dd></div>
{% endfor %}
</dl>
{% if options %}
<h2>Options</h2>
<dl class="options">
{% for name, value in options %}
<dt><code>{{ name }}</code></dt><dd><code><bdi>{{ value }}</bdi></code></dd>
{% endfor %}
</dl>
{% endif %}
<p class="legend quiet">{% for kind, text in legend %}{% if kind %}<i class="{{ kind }}" \
style="--c:{{ colour }}"></i>{% endif %}{{ text }} {% endfor %}\
Hold the pointer over a number to see all its digits.</p>
<div class="tree" style="--columns:{{ columns }};--c:{{ colour }};\
min-width:{{ least_ems }}em">
<div class="row head"><span class="n">{{ header }}</span>\
{% for kind, title in headers %}<span class="{{ kind }}">{{ title }}</span>{% endfor %}</div>
{% macro cells(row) %}
<span class="n"{% if row.depth %} style="--d:{{ row.depth }}"{% endif %} \
title="{{ row.full_name }}">\
{% if row.level %}<span class="q">level {{ row.level }}</span> {% endif %}<bdi>{{ row.name }}</bdi>\
{% if row.left_out %} <span class="q">+{{ row.left_out }}</span>{% endif %}</span>\
{% for kind, text, title, style in row.cells %}<span{% if kind %} class="{{ kind }}"{% endif %}\
{% if title %} title="{{ title }}"{% endif %}{% if style %} style="{{ style }}"{% endif %}>\
{{ text }}</span>{% endfor %}
{% endmacro %}
{% for row in rows %}
{% if row.nests %}
<details{% if row.is_open %} open{% endif %}><summary class="row">{{ cells(row) }}</summary>
{% else %}
<div class="row{% if row.is_total %} total{% endif %}">{{ cells(row) }}</div>
{% endif %}
{% for _ in range(row.n_ends) %}
</details>
{% endfor %}
{% endfor %}
</div>
{% for remark in remarks %}
<p class="quiet">{{ remark }}</p>
{% endfor %}
{% if notices %}
<h2>Notices</h2>
<ul>
{% for notice in notices %}
<li>{{ notice }}</li>
{% endfor %}
</ul>
{% endif %}
</main>
"""
