"""Dialects for the tests of the command line."""

from tooldialect.dialects import XmlDialect


class TrimsNewline(XmlDialect):
    def format_results(self, outcomes):
        return [
            entry.model_copy(update={"content": entry.content.removesuffix("\n")}) if entry.trusted_verbatim else entry
            for entry in super().format_results(outcomes)
        ]


class LosesLongNames(XmlDialect):
    """A round of four is two turns, if a failure is in it: no written input is like that."""

    def format_results(self, outcomes):
        outcomes = list(outcomes)
        if len(outcomes) == 4 and not all(outcome.success for outcome in outcomes):
            return [
                entry
                for part in (outcomes[:2], outcomes[2:])
                for entry in super(LosesLongNames, self).format_results(part)
            ]
        return super().format_results(outcomes)
